// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/resolve.hpp"

#include "exec/device/buffer.hpp"

namespace wye::exec {
namespace {

// Calls visit(argument index, place) for every resident argument: the input list's, then others.
template <typename Visit>
Result<void> each(const plan::ProgramPlan& plan, std::span<const plan::Argument> arguments,
                  Visit&& visit) {
    for (const bool inputs : {true, false}) {
        for (std::uint32_t i = 0; i < arguments.size(); ++i) {
            const plan::Argument& argument = arguments[i];
            if (argument.kind != plan::ArgumentKind::Resident ||
                argument.binding >= plan.argument_of.size())
                continue;
            const std::int8_t slot = plan.argument_of[argument.binding];
            if (slot < 0) continue;
            const plan::Binding& binding =
                plan.bindings.bindings[plan.bindings.arguments[static_cast<std::size_t>(slot)]];
            if (binding.input_index.has_value() != inputs) continue;
            const registry::Place place{
                inputs ? "input" : "output",
                inputs ? *binding.input_index : binding.output_index.value_or(0), binding.name};
            WYE_TRY(visit(i, place));
        }
    }
    return {};
}

}  // namespace

Result<void> Residents::resolve(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                                std::span<plan::Argument> arguments) {
    return each(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        auto found = handles.find(arguments[i].buffer, registry::HandleKind::buffer, place);
        if (!found.ok()) return Result<void>(std::move(found).error());
        arguments[i].buffer_size = found->as<BufferObject>().size;
        pin_of_[i] = static_cast<std::uint8_t>(pins_.size());
        pins_.push_back(std::move(found).value());
        handles_.push_back(arguments[i].buffer);
        return Result<void>();
    });
}

Result<void> Residents::own(const registry::HandleTable& handles, const plan::ProgramPlan& plan,
                            const DeviceSession& session,
                            std::span<const plan::Argument> arguments) const {
    if (pins_.empty()) return {};
    return each(plan, arguments, [&](std::uint32_t i, const registry::Place& place) {
        const registry::Pin& pin = pins_[pin_of_[i]];
        if (pin.owner() == session.owner()) return Result<void>();
        auto alive = pin.as<BufferObject>().session.alive();
        if (!alive.ok()) return alive;
        // Asked again for the message, which names both owners.
        auto found = handles.find_owned(arguments[i].buffer, registry::HandleKind::buffer,
                                        session.owner(), place);
        if (!found.ok()) return Result<void>(std::move(found).error());
        return Result<void>();
    });
}

Result<registry::InFlight> Residents::begin_use(const registry::HandleTable& handles) const {
    if (handles_.empty()) return registry::InFlight();
    return handles.begin_use({handles_.data(), handles_.size()});
}

wye_buffer_object* Residents::object(std::uint32_t argument) const {
    return pins_[pin_of_[argument]].as<BufferObject>().native.object();
}

}  // namespace wye::exec
