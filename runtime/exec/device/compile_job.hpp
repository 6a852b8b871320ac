// SPDX-License-Identifier: Apache-2.0
//
// One compile of a session. It runs on a WideThread, so that the caller can stop waiting, or on the
// caller's thread if `thread` is empty. The members `stats`, `made` and `thrown` belong to the
// compiling thread until `done`. The session's compile lock guards `done` and `overdue`.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "exec/program/compiled_program.hpp"
#include "exec/program/loaded_program.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

struct CompileJob {
    CompileJob(std::shared_ptr<LoadedProgram> p, const Form& f, std::string_view to)
        : program(std::move(p)), form(f), format(to) {}

    const std::shared_ptr<LoadedProgram> program;
    const Form form;
    const std::string_view format;  // a static string, or owned by the program's variant
    bool warms = false;  // make the driver generate code at once, not at the first launch
    CompiledRef known;   // not null: compiled already, and only code generation is left
    CompileStats stats;
    std::optional<Result<CompiledRef>> made;
    std::exception_ptr thrown;
    bool done = false;
    bool overdue = false;  // the call that started the compile has stopped waiting
    sdk::WideThread thread;
};

}  // namespace wye::exec
