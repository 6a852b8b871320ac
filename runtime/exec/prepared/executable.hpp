// SPDX-License-Identifier: Apache-2.0
//
// Executable: the operations of prepared work as a submit gives them to the plugin. A command holds
// the launches, copies and fills between two transfers of host bytes, which the plugin keeps as a
// native object of the driver; the transfers are submitted between commands. If the plugin has no
// commands, or while it allows no further execution of them, the operations are submitted.
//
// Guarded by the mutex of the session's queues, except while a submit holds it (`sending`).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exec/device/queue_pool.hpp"
#include "exec/trace/trace.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Executable {
    std::vector<wye_operation> operations;  // of an execution without commands
    std::vector<registry::NativeCommand> commands;
    std::vector<wye_operation> own;          // those that execute the commands, and transfers
    std::span<const wye_operation> execute;  // `own`; without commands `operations`
    bool limited = false;          // the plugin allows one pending execution of a command at a time
    bool sending = false;          // a submit holds it: the mutex is not held meanwhile
    std::uint32_t last_queue = 0;  // queue and value of the newest execution of `execute`
    std::uint64_t last_value = 0;

    // Makes the commands of `all`, and sets `execute`. Their parameters that may change are read
    // from `params` at each execution. After an error, and if the plugin has no commands, there are
    // none.
    [[nodiscard]] Result<void> make_commands(const registry::DeviceRef& device,
                                             std::span<const wye_operation> all, const void* params,
                                             std::uint32_t params_size, std::string_view label);
    // From now on the operations are submitted.
    void drop_commands() noexcept {
        execute = operations;
        own.clear();
        commands.clear();
        limited = false;
    }
    // Names the commands for a trace, if there is one.
    void name_in(Trace* trace, std::string_view name) const;
    // Whether the plugin allows another execution of the commands, as far as is known without
    // asking the driver.
    [[nodiscard]] bool may_run(const QueuePool& queues) const {
        return !limited || !queues.is_pending(last_queue, last_value);
    }
    // Called when `execute` was submitted.
    void sent(std::uint32_t queue, std::uint64_t value) {
        last_queue = queue;
        last_value = value;
    }

  private:
    [[nodiscard]] Result<void> make_command(const registry::DeviceRef& device,
                                            std::span<const wye_operation> part, const void* params,
                                            std::uint32_t params_size, std::string_view label);
};

}  // namespace wye::exec
