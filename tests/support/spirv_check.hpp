// SPDX-License-Identifier: Apache-2.0
//
// Judges SPIR-V as the validator of Khronos does, in process.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace support {

// What spirv-val says against a module for Vulkan 1.1; empty: valid.
std::string spirv_complaint(std::span<const std::byte> module);

// The module as text, one instruction a line, ids as friendly names.
std::string spirv_text(std::span<const std::byte> module);

}  // namespace support
