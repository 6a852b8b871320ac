// SPDX-License-Identifier: Apache-2.0
//
// Command: a list of operations, which run one by one. If all are dispatches with fixed grids,
// their launches are prepared once. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cpu/device.hpp"
#include "cpu/run/run.hpp"

namespace wye::cpu {

class Command {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Command>> create(Device& device,
                                                                 const wye_command_desc& desc);
    void describe(wye_command_info& out) const;
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);

    // The operations of an execution, until the next call.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        return list_.is_fixed() ? list_.operations() : list_.resolve(execution);
    }
    // The prepared launches of the operations, which use the values set by `resolve`; empty if
    // there are none.
    [[nodiscard]] std::span<Launch> launches() { return launches_; }
    // The launch of a command that has no other operation, if it is small and short (see is_short);
    // else null. It uses the values set by `resolve`.
    [[nodiscard]] const Launch* short_launch() const {
        return is_short_ ? launches_.data() : nullptr;
    }
    // Whether the caller may run an execution itself: is_small of its operations.
    [[nodiscard]] bool is_small(const wye_execute_op& execution);

  private:
    Command(Plugin& plugin, sdk::CommandList list);
    // Prepares the launches.
    void prepare();

    Plugin& plugin_;
    sdk::CommandList list_;
    std::vector<Launch> launches_;
    std::optional<bool> small_;  // none: differs between executions
    bool is_short_ = false;
};

}  // namespace wye::cpu
