// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/bench.hpp"

#include <algorithm>

#include "vulkan/buffer.hpp"
#include "vulkan/program.hpp"

namespace wye::vulkan {
namespace {

constexpr std::uint64_t kMostInvocations = 128;  // every Vulkan device allows this number

wye_operation transfer(std::uint32_t kind, wye_buffer_object* buffer, std::span<std::byte> bytes) {
    wye_operation out = sdk::new_operation(kind);
    out.u.transfer = {buffer, 0, bytes.size(), bytes.data(), bytes.data()};
    return out;
}

}  // namespace

Result<std::unique_ptr<Bench>> Bench::create(Device& device) {
    std::unique_ptr<Bench> out(new Bench(device));
    WYE_ASSIGN(out->queue_, Queue::create(device, wye_queue_desc{}));
    const auto& sizes = device.info.subgroup_sizes;
    if (!sizes.empty())
        out->workgroup = static_cast<std::uint32_t>(std::min(4 * sizes[0], kMostInvocations));
    return out;
}

Result<std::chrono::nanoseconds> Bench::run(const std::vector<std::uint32_t>& words,
                                            std::span<const Argument> arguments,
                                            std::uint32_t groups, unsigned times) {
    std::vector<wye_slot> slots;
    for (std::uint32_t b = 0; b < arguments.size(); ++b)
        slots.push_back({WYE_SLOT_BUFFER, b, 0, 3, 0, {}});
    wye_artifact artifact{};
    artifact.header = sdk::header_of(sizeof artifact);
    artifact.format = sdk::to_abi(WYE_FORMAT_SPIRV);
    artifact.code = {words.data(), words.size() * sizeof words[0]};
    artifact.entry = artifact.label = sdk::to_abi("main");
    artifact.slots = slots.data();
    artifact.slot_count = artifact.binding_count = static_cast<std::uint32_t>(slots.size());
    artifact.workgroup_size[0] = workgroup;
    artifact.workgroup_size[1] = artifact.workgroup_size[2] = 1;
    WYE_ASSIGN(const auto program, Program::create(device_, artifact, {}));

    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<wye_binding> bindings;
    std::vector<wye_operation> operations;
    for (const Argument& argument : arguments) {
        WYE_ASSIGN(auto buffer, Buffer::create(device_, argument.bytes.size(), "self-test"));
        auto* object = reinterpret_cast<wye_buffer_object*>(buffer.get());
        bindings.push_back(sdk::binding_of(object, 0, argument.bytes.size(), 0));
        operations.push_back(transfer(WYE_OPERATION_UPLOAD, object, argument.bytes));
        buffers.push_back(std::move(buffer));
    }
    wye_operation& dispatch = operations.emplace_back(sdk::new_operation(WYE_OPERATION_DISPATCH));
    dispatch.u.dispatch.program = reinterpret_cast<wye_program_object*>(program.get());
    dispatch.u.dispatch.bindings = bindings.data();
    dispatch.u.dispatch.binding_count = artifact.binding_count;
    for (unsigned k = 0; k < 3; ++k)
        dispatch.u.dispatch.groups[k] = dispatch.u.dispatch.logical_groups[k] = k == 0 ? groups : 1;
    for (std::size_t b = 0; b < arguments.size(); ++b)
        if (arguments[b].reads_back)
            operations.push_back(
                transfer(WYE_OPERATION_DOWNLOAD, bindings[b].buffer, arguments[b].bytes));
    using Clock = std::chrono::steady_clock;
    auto least = std::chrono::nanoseconds::max();
    for (unsigned k = 0; k < times; ++k) {
        const std::uint64_t value = queue_->timeline().newest() + 1;
        const Clock::time_point start = Clock::now();
        WYE_TRY(queue_->submit(sdk::submission_of(value, operations)));
        WYE_TRY(queue_->timeline().wait(value, UINT64_MAX));
        least = std::min<std::chrono::nanoseconds>(least, Clock::now() - start);
    }
    return least;
}

}  // namespace wye::vulkan
