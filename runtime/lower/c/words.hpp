// SPDX-License-Identifier: Apache-2.0
//
// Spells the middle form of scalar operations and conversions as C.
#pragma once

#include <span>
#include <string>

#include "lower/c/module.hpp"

namespace wye::lower {

// Describes the words of a dialect on a device.
[[nodiscard]] middle::Target c_target(const Spelling& spelling, const TargetFacts& facts,
                                      std::uint32_t subgroup);
// Writes an operator or function on operands that are C expressions. Those within the error budget
// are native.
[[nodiscard]] std::string scalar_operation(CModule& module, ir::Op op, ir::Kind kind,
                                           std::span<const std::string> operands);
// Writes the middle form `key` on such operands. A form with Hidden steps takes a
// zero passed at launch after them.
[[nodiscard]] std::string c_form(CModule& module, middle::FormKey key,
                                 std::span<const std::string> operands);
[[nodiscard]] inline std::string c_form(CModule& module, middle::FormKey key,
                                        const std::string& operand) {
    return c_form(module, key, std::span<const std::string>(&operand, 1));
}

}  // namespace wye::lower
