// SPDX-License-Identifier: Apache-2.0
//
// The verbs and options of a command as one JSON document, from which the manual page and the
// completions of shells are made, so that they say what --help says.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace wye::tool {

// verbs[name, about, helper, options[flags[], value, about], positionals[name, about, required],
// verbs]. `helper`: a separate program, which reads its own options. `value` is null for a flag.
[[nodiscard]] std::string option_table(const CLI::App& app);

}  // namespace wye::tool
