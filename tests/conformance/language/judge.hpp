// SPDX-License-Identifier: Apache-2.0
//
// Compares a device's results with the expected ones and describes differences.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/device.hpp"

namespace conformance {

using support::Binding;
using support::Launch;

// The oracle's results for the same program (in wire form) and launches. INTERNAL if the oracle
// cannot evaluate it.
wye::Result<std::vector<std::vector<std::byte>>> expected(const std::string& wire,
                                                          const std::vector<Launch>& launches);

// Empty if the outputs agree; else names the first byte that differs.
std::string difference(const std::vector<Binding>& buffers,
                       const std::vector<std::vector<std::byte>>& got,
                       const std::vector<std::vector<std::byte>>& wanted);

// Why a case with this outcome does not apply: the program was refused, and the device lacks a
// capability that it needs. Empty: it applies.
std::string refused_for_lack(const support::Device& device, const wye::Program& program,
                             const wye::Error& error);

}  // namespace conformance
