// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/own.hpp"

#include <fmt/format.h>

#include "exec/device/buffer.hpp"

namespace wye::exec {
namespace {

// Returns text that names the first resident buffer on the device of the request: ", the device of
// `x`". Empty: there is none.
std::string expected_by(const plan::ProgramPlan& plan, const DeviceSession& session,
                        const Residents& residents, std::span<const plan::Argument> arguments) {
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
        const plan::Argument& argument = arguments[i];
        const int slot =
            argument.binding < plan.argument_of.size() ? plan.argument_of[argument.binding] : -1;
        if (argument.kind != plan::ArgumentKind::Resident || slot < 0 ||
            residents.pin(i).owner() != session.owner())
            continue;
        const std::uint32_t binding = plan.bindings.arguments[static_cast<std::size_t>(slot)];
        return fmt::format(", the device of `{}`", plan.bindings.bindings[binding].name);
    }
    return {};
}

}  // namespace

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
        if (found.ok()) return Result<void>();
        Error error = std::move(found).error();
        error.message += expected_by(plan, session, residents, arguments);
        return Result<void>(std::move(error));
    };
    WYE_TRY(each_resident(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        return check(residents.pin(i), place);
    }));
    return residents.grid() ? check(residents.grid(), kGridBuffer) : Result<void>();
}

}  // namespace wye::exec
