// SPDX-License-Identifier: Apache-2.0
//
// Converts a program to its other forms: text, wire, lowered, and translated by a plugin's
// compiler. Free-threaded.
#pragma once

#include <string>
#include <string_view>

#include "exec/context.hpp"
#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// Returns the program in this form. `device` (may be 0): the device whose facts the lowering uses.
// Some forms are made by a plugin's compiler, as the plugin's manifest says. Such a form needs the
// plugin, but neither a device nor the driver, and may name a target: "NAME:TARGET". Errors:
// UNSUPPORTED for an unknown form (the error lists the known forms), and for `check_free` with a
// form that has no range checks; NOT_FOUND if no installed plugin makes the form.
[[nodiscard]] Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                               std::string_view form, registry::Handle device,
                                               std::uint32_t ulp_budget, bool check_free);

}  // namespace wye::exec
