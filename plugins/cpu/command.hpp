// SPDX-License-Identifier: Apache-2.0
//
// Command: a list of operations, which run one by one. If all operations are dispatches with fixed
// grids, their launches are prepared once. Used by one thread at a time.
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

    // Returns the operations of an execution. Valid until the next `resolve` or `update`.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        return list_.is_fixed() ? list_.operations() : list_.resolve(execution);
    }
    // The prepared launches of the operations, which use the values set by `resolve`; empty if
    // there are none.
    [[nodiscard]] std::span<Launch> launches() { return launches_; }
    // The launch of a command with a single operation, if the launch is small and short (see
    // is_short); else null. The launch uses the values set by `resolve`.
    [[nodiscard]] const Launch* short_launch() const {
        return is_short_ ? launches_.data() : nullptr;
    }
    // Whether the operations of an execution are small, so that the caller may run them itself.
    [[nodiscard]] bool is_small(const wye_execute_op& execution);

  private:
    Command(Plugin& plugin, sdk::CommandList list);
    // Prepares the launches.
    void prepare();

    Plugin& plugin_;
    sdk::CommandList list_;
    std::vector<Launch> launches_;
    std::optional<bool> small_;  // nullopt: depends on the execution
    bool is_short_ = false;
};

}  // namespace wye::cpu
