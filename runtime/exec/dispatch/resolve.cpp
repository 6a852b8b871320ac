// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/resolve.hpp"

#include "exec/device/buffer.hpp"

namespace wye::exec {

Result<void> Residents::resolve(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                                std::span<plan::Argument> arguments) {
    return each_resident(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        auto found = handles.find(arguments[i].buffer, registry::HandleKind::buffer, place);
        if (!found.ok()) return Result<void>(std::move(found).error());
        arguments[i].buffer_size = found->as<BufferObject>().size;
        pin_of_[i] = static_cast<std::uint8_t>(pins_.size());
        pins_.push_back(std::move(found).value());
        handles_.push_back(arguments[i].buffer);
        return Result<void>();
    });
}

Result<void> Residents::resolve_grid(const registry::HandleTable& handles, plan::Request& request) {
    if (!request.indirect || (request.sizes_only && request.grid_buffer == 0)) return {};
    WYE_ASSIGN(grid_, handles.find(request.grid_buffer, registry::HandleKind::buffer, kGridBuffer));
    request.grid_buffer_size = grid_.as<BufferObject>().size;
    handles_.push_back(request.grid_buffer);
    return {};
}

Result<registry::InFlight> Residents::begin_use(const registry::HandleTable& handles) const {
    if (handles_.empty()) return registry::InFlight();
    return handles.begin_use({handles_.data(), handles_.size()});
}

void Residents::uses(const plan::Launch& launch, BufferUses& out) const {
    for (const plan::BoundBuffer& bound : launch.bound())
        if (bound.kind == plan::ArgumentKind::Resident)
            out.push_back({&pin(bound.argument).as<BufferObject>().history, bound.writable});
    if (grid_) out.push_back({&grid_.as<BufferObject>().history, false});
}

wye_buffer_object* Residents::object(std::uint32_t argument) const {
    return pin(argument).as<BufferObject>().native.object();
}

}  // namespace wye::exec
