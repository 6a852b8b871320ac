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

// `device` (may be 0) gives the facts. Forms that a plugin's compiler makes, by
// its manifest, need that plugin, but neither device nor driver; without a device a target may
// follow: "NAME:TARGET". UNSUPPORTED lists the forms, or says that this one has no range checks
// (`check_free`).
[[nodiscard]] Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                               std::string_view form, registry::Handle device,
                                               std::uint32_t ulp_budget, bool check_free);

}  // namespace wye::exec
