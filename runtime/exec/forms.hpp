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

// `device` (may be 0) provides the facts. A form that a plugin's manifest lists as made by its
// compiler needs that plugin, but neither a device nor the driver; without a device the form may
// name a target: "NAME:TARGET". UNSUPPORTED for an unknown form (the error lists the known ones),
// and for `check_free` with a form that has no range checks.
[[nodiscard]] Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                               std::string_view form, registry::Handle device,
                                               std::uint32_t ulp_budget, bool check_free);

}  // namespace wye::exec
