// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/own.hpp"

#include "exec/device/buffer.hpp"

namespace wye::exec {

Result<void> own(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                 const DeviceSession& session, const Residents& residents,
                 std::span<const plan::Argument> arguments) {
    WYE_TRY(session.alive());
    if (residents.empty()) return {};
    return each_resident(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        const registry::Pin& pin = residents.pin(i);
        if (pin.owner() == session.owner()) return Result<void>();
        auto alive = pin.as<BufferObject>().session.alive();
        if (!alive.ok()) return alive;
        // Repeats the look-up for its error message, which names both owners.
        auto found = handles.find_owned(arguments[i].buffer, registry::HandleKind::buffer,
                                        session.owner(), place);
        if (!found.ok()) return Result<void>(std::move(found).error());
        return Result<void>();
    });
}

}  // namespace wye::exec
