// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/own.hpp"

#include "exec/device/buffer.hpp"

namespace wye::exec {

Result<void> own(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                 const DeviceSession& session, const Residents& residents,
                 std::span<const plan::Argument> arguments) {
    WYE_TRY(session.alive());
    if (residents.empty()) return {};
    const auto check = [&](const registry::Pin& pin, const registry::Place& place) {
        if (pin.owner() == session.owner()) return Result<void>();
        auto alive = pin.as<BufferObject>().session.alive();
        if (!alive.ok()) return alive;
        // Repeats the look-up for its error message, which names both owners.
        auto found =
            handles.find_owned(pin.handle(), registry::HandleKind::buffer, session.owner(), place);
        if (!found.ok()) return Result<void>(std::move(found).error());
        return Result<void>();
    };
    WYE_TRY(each_resident(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        return check(residents.pin(i), place);
    }));
    return residents.grid() ? check(residents.grid(), kGridBuffer) : Result<void>();
}

}  // namespace wye::exec
