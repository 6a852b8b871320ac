// SPDX-License-Identifier: Apache-2.0
//
// Validates and disassembles SPIR-V with Khronos' library, in this process.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace support {

// The error of the validator for a module of Vulkan 1.1; empty: the module is valid.
std::string spirv_complaint(std::span<const std::byte> module);

// The module as text, one instruction per line, with friendly names for ids.
std::string spirv_text(std::span<const std::byte> module);

}  // namespace support
