// SPDX-License-Identifier: Apache-2.0
//
// A program in its other forms: text, wire, lowered, and translated by a plugin's compiler.
// Free-threaded.
#pragma once

#include <string>
#include <string_view>

#include "exec/context.hpp"
#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// `device` (may be 0) gives the facts. Forms made by a plugin's compiler, as its manifest says,
// need that plugin, but neither device nor driver; without a device a target may follow:
// "NAME:TARGET". UNSUPPORTED for an unknown form, with the known ones, and for `check_free` with a
// form without range checks.
[[nodiscard]] Result<std::string> program_form(Context& context, const LoadedProgram& program,
                                               std::string_view form, registry::Handle device,
                                               std::uint32_t ulp_budget, bool check_free);

}  // namespace wye::exec
