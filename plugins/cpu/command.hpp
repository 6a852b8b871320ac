// SPDX-License-Identifier: Apache-2.0
//
// A command as a list, whose operations run one by one. One thread at a time.
#pragma once

#include <memory>
#include <span>

#include "cpu/device.hpp"

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

  private:
    explicit Command(sdk::CommandList list) : list_(std::move(list)) {}

    sdk::CommandList list_;
};

}  // namespace wye::cpu
