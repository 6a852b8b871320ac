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

// The oracle's results for the same program (in wire form) and the same launches. INTERNAL if the
// oracle cannot evaluate the program.
wye::Result<std::vector<std::vector<std::byte>>> expected(const std::string& wire,
                                                          const std::vector<Launch>& launches);

// Empty if the outputs agree; else a text with the first byte that differs.
std::string difference(const std::vector<Binding>& buffers,
                       const std::vector<std::vector<std::byte>>& got,
                       const std::vector<std::vector<std::byte>>& wanted);

// Why a case that failed with `error` does not apply to the device: the program was refused, and
// needs a capability that the device lacks. Empty: the case applies.
std::string refused_for_lack(const support::Device& device, const wye::Program& program,
                             const wye::Error& error);

}  // namespace conformance
