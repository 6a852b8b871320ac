// SPDX-License-Identifier: Apache-2.0
//
// A program in its other forms, for people: text, wire, what the host lowers to, and what a
// plugin's compiler makes of that. Free-threaded.
#pragma once

#include <string>
#include <string_view>

#include "exec/context.hpp"
#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// `device` (may be 0) gives the facts. Forms that a plugin makes ("ptx", "cubin") need that plugin,
// but neither device nor driver; without a device a target may follow: "cubin:sm_90". UNSUPPORTED
// lists the forms that there are, and those that have range checks to leave out (`check_free`).
[[nodiscard]] Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                               std::string_view form, registry::Handle device,
                                               std::uint32_t ulp_budget, bool check_free);

}  // namespace wye::exec
