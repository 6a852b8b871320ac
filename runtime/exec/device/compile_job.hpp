// SPDX-License-Identifier: Apache-2.0
//
// One compile of a session, which runs on a WideThread: whoever asked for it may stop to wait.
// Guarded by the session's lock, but for `stats` and `made`, which are the thread's until `done`.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "exec/program/compiled.hpp"
#include "exec/program/program_object.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

struct CompileJob {
    CompileJob(std::shared_ptr<ProgramObject> p, const PreparedKey& k)
        : program(std::move(p)), key(k) {}

    const std::shared_ptr<ProgramObject> program;
    const PreparedKey key;
    bool warms = false;  // the driver is to make its code now, not at the first launch
    PreparedRef known;   // compiled before, and only to be warmed
    PrepareStats stats;
    std::optional<Result<PreparedRef>> made;
    std::exception_ptr thrown;
    bool done = false;
    bool overdue = false;  // nobody waits for it
    sdk::WideThread thread;
};

}  // namespace wye::exec
