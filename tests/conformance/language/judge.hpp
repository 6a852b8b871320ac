// SPDX-License-Identifier: Apache-2.0
//
// Comparing what a device gave with what is right, and saying where they differ.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/device.hpp"

namespace conformance {

// What the oracle says for the same program (in wire form) and launches. Fails with INTERNAL when
// the oracle cannot evaluate it.
wye::Result<std::vector<std::vector<std::byte>>> expected(const std::string& wire,
                                                          const std::vector<Launch>& launches);

// Empty when the outputs agree; else names the first byte that differs.
std::string difference(const std::vector<Binding>& buffers,
                       const std::vector<std::vector<std::byte>>& got,
                       const std::vector<std::vector<std::byte>>& wanted);

}  // namespace conformance
