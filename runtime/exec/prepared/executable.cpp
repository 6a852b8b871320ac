// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/executable.hpp"

#include <algorithm>

#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

bool moves_host_bytes(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_UPLOAD || operation.kind == WYE_OPERATION_DOWNLOAD;
}

}  // namespace

Result<void> Executable::make_commands(const registry::DeviceRef& device,
                                       std::span<const wye_operation> all, const void* params,
                                       std::uint32_t params_size, std::string_view label) {
    execute = operations;
    for (std::size_t first = 0; first < all.size();) {
        if (moves_host_bytes(all[first])) {
            own.push_back(all[first++]);
            continue;
        }
        const auto end = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                      moves_host_bytes);
        const auto count = static_cast<std::size_t>(end - all.begin()) - first;
        auto made = make_command(device, all.subspan(first, count), params, params_size, label);
        if (!made.ok()) {
            drop_commands();
            if (made.error().code == Code::UNIMPLEMENTED) return {};
            return made;
        }
        first += count;
    }
    if (!commands.empty()) execute = own;
    return {};
}

Result<void> Executable::make_command(const registry::DeviceRef& device,
                                      std::span<const wye_operation> part, const void* params,
                                      std::uint32_t params_size, std::string_view label) {
    const bool late = std::ranges::any_of(part, [](const wye_operation& operation) {
        return operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.late_size != 0;
    });
    wye_command_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.operations = part.data();
    desc.operation_count = part.size();
    if (late) desc.params_size = params_size;
    desc.label = sdk::to_abi(label);
    WYE_ASSIGN(auto made, registry::NativeCommand::create(device, desc));
    const registry::NativeCommand& command = commands.emplace_back(std::move(made));
    limited = limited || command.most_pending() != 0;
    wye_operation& executes = own.emplace_back(sdk::new_operation(WYE_OPERATION_EXECUTE));
    executes.u.execute = {command.object(), nullptr, late ? params : nullptr, 0, desc.params_size};
    return {};
}

void Executable::name_in(Trace* trace, std::string_view name) const {
    if (trace == nullptr) return;
    for (const registry::NativeCommand& command : commands)
        trace->name_object(command.object(), name);
}

}  // namespace wye::exec
