// SPDX-License-Identifier: Apache-2.0
//
// Validates and disassembles SPIR-V by Khronos' library, in process.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace support {

// spirv-val's error for a module for Vulkan 1.1; empty: valid.
std::string spirv_complaint(std::span<const std::byte> module);

// The module as text, one instruction a line, ids as friendly names.
std::string spirv_text(std::span<const std::byte> module);

}  // namespace support
