// SPDX-License-Identifier: Apache-2.0
//
// Operations that not every device does exactly, as functions written in the language itself, in
// integers where nothing else can be trusted. A module gets only the functions that it calls.
#pragma once

#include <string_view>

#include "lower/spirv/builder.hpp"

namespace wye::lower {

// The library as a valid program with an empty main, and its text. WYE_STATIC.
[[nodiscard]] const ir::Program& spirv_library();
[[nodiscard]] std::string_view spirv_library_text();

// Calls one of its functions, writing it into the module first. Operands and result are scalars.
[[nodiscard]] Id spirv_library_call(SpirvBuilder& b, std::string_view name,
                                    std::initializer_list<Id> operands);

}  // namespace wye::lower
