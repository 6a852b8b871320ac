// SPDX-License-Identifier: Apache-2.0
//
// A command as a list, whose operations run one by one. If all are dispatches whose grids are
// fixed, their launches are made once. One thread at a time.
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
        return list_.resolve(execution);
    }
    // Their launches, which read what `resolve` has filled in; empty: they are not made ahead.
    [[nodiscard]] std::span<Launch> launches() { return launches_; }
    // Whether the caller may run an execution, as is_small of its operations.
    [[nodiscard]] bool is_small(const wye_execute_op& execution);

  private:
    explicit Command(sdk::CommandList list);
    // Makes the launches again.
    void prepare();

    sdk::CommandList list_;
    std::vector<Launch> launches_;
    std::optional<bool> small_;  // none: executions differ
};

}  // namespace wye::cpu
