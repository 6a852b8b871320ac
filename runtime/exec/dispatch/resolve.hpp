// SPDX-License-Identifier: Apache-2.0
//
// The resolve step of a dispatch: looks up the resident buffers in the handle table, before
// admission, which needs their sizes. Does not call the driver. Order: the program's input list,
// then the other arguments, then the buffer of the grid.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "exec/device/buffer_use.hpp"
#include "plan/launch.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// How a submit uses buffers: the arguments' buffers, and the grid's buffer.
using BufferUses = registry::InplaceList<BufferUse, registry::InFlight::kMost>;
// The place of the grid's buffer in messages.
inline constexpr registry::Place kGridBuffer{"grid", registry::Place::kNone, {}};

// The resident buffers of one request. Pins keep the buffers alive while the request runs. Used by
// one thread.
class Residents {
  public:
    // Looks up the buffers, and sets `buffer_size` of each resident argument. Errors: STALE_HANDLE,
    // WRONG_KIND, and WRONG_OWNER for a handle of another context. Skips arguments with unknown
    // bindings, which admission refuses.
    [[nodiscard]] Result<void> resolve(const registry::HandleTable& handles,
                                       const plan::ProgramPlan& plan,
                                       std::span<plan::Argument> arguments);
    // If the request has a grid in a buffer, looks up that buffer and sets `grid_buffer_size`.
    // Errors as in `resolve`.
    [[nodiscard]] Result<void> resolve_grid(const registry::HandleTable& handles,
                                            plan::Request& request);

    // Checks that all buffers are still live and marks them in flight, all or none.
    [[nodiscard]] Result<registry::InFlight> begin_use(const registry::HandleTable& handles) const;

    // Appends the uses of these buffers by a launch to `out`.
    void uses(const plan::Launch& launch, BufferUses& out) const;

    [[nodiscard]] bool empty() const noexcept { return handles_.empty(); }
    [[nodiscard]] const registry::Pin& pin(std::uint32_t argument) const {
        return pins_[pin_of_[argument]];
    }
    [[nodiscard]] wye_buffer_object* object(std::uint32_t argument) const;
    // The pin of the buffer of the grid; empty: there is none.
    [[nodiscard]] const registry::Pin& grid() const noexcept { return grid_; }

  private:
    registry::InplaceList<registry::Pin, WYE_LIMIT_BUFFERS> pins_;
    registry::Pin grid_;
    // The handles of `pins_` and `grid_`.
    registry::InplaceList<registry::Handle, registry::InFlight::kMost> handles_;
    std::array<std::uint8_t, WYE_LIMIT_BUFFERS> pin_of_{};  // index in `pins_`, by argument
};

// Calls visit(argument index, place) for every resident argument: first for those of the input
// list.
template <typename Visit>
Result<void> each_resident(const plan::ProgramPlan& plan, std::span<const plan::Argument> arguments,
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
            // A persistent buffer may be in neither list.
            registry::Place place{"binding", binding.binding, binding.name};
            if (inputs)
                place = {"input", *binding.input_index, binding.name};
            else if (binding.output_index)
                place = {"output", *binding.output_index, binding.name};
            WYE_TRY(visit(i, place));
        }
    }
    return {};
}

}  // namespace wye::exec
