// SPDX-License-Identifier: Apache-2.0
//
// The verbs and options of a command as a JSON document, from which the manual page and the shell
// completions are generated, so that they agree with --help.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace wye::tool {

// verbs[name, about, helper, options[flags[], value, about], positionals[name, about, required],
// verbs]. `helper`: the verb is a separate program, which parses its own options. `value` is null
// for a flag.
[[nodiscard]] std::string option_table(const CLI::App& app);

}  // namespace wye::tool
