// SPDX-License-Identifier: Apache-2.0
//
// Writes scalar operations of the language as SPIR-V, without control flow.
#pragma once

#include "lower/spirv/builder.hpp"

namespace wye::lower {

// Returns the instructions that middle forms may use in SPIR-V for Vulkan on a device.
[[nodiscard]] middle::Target spirv_target(const TargetFacts& facts, std::uint32_t subgroup);

// Writes an operator or function. Operations within the error budget are written in native form.
[[nodiscard]] Id spirv_operation(SpirvBuilder& b, ir::Op op, ir::Kind kind,
                                 std::span<const Id> operands);
// Writes the middle form `key` on these operands.
[[nodiscard]] Id spirv_form(SpirvBuilder& b, middle::FormKey key, std::span<const Id> operands);
[[nodiscard]] inline Id spirv_form(SpirvBuilder& b, middle::FormKey key, Id operand) {
    return spirv_form(b, key, std::span<const Id>(&operand, 1));
}

}  // namespace wye::lower
