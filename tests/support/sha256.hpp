// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) in plain C++, as the reference for the sha256 program.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace support {

std::array<std::byte, 32> sha256(std::span<const std::byte> message);
std::string hex(std::span<const std::byte> bytes);

}  // namespace support
