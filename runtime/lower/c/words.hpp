// SPDX-License-Identifier: Apache-2.0
//
// Spells the middle form of scalar operations and conversions as C.
#pragma once

#include <span>
#include <string>

#include "lower/c/module.hpp"

namespace wye::lower {

// Returns the operators and functions that middle forms may use in a dialect on a device.
[[nodiscard]] middle::Target c_target(const Spelling& spelling, const TargetFacts& facts,
                                      std::uint32_t subgroup);
// Writes an operator or function on operands that are C expressions. Operations within the error
// budget are written in native form.
[[nodiscard]] std::string scalar_operation(CModule& module, ir::Op op, ir::Kind kind,
                                           std::span<const std::string> operands);
// Writes the middle form `key` on such operands. The helper function of a form with Hidden steps
// also takes a zero passed at launch, after the operands.
[[nodiscard]] std::string c_form(CModule& module, middle::FormKey key,
                                 std::span<const std::string> operands);
[[nodiscard]] inline std::string c_form(CModule& module, middle::FormKey key,
                                        const std::string& operand) {
    return c_form(module, key, std::span<const std::string>(&operand, 1));
}

}  // namespace wye::lower
