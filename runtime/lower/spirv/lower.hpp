// SPDX-License-Identifier: Apache-2.0
//
// The SPIR-V writer: writes a program as the words of a module for Vulkan 1.1. Pure.
#pragma once

#include "lower/lower.hpp"

namespace wye::lower {

// Returns the errors that `lower` (lower/lower.hpp) documents, or LIMIT_EXCEEDED.
[[nodiscard]] Result<Artifact> lower_spirv(const ir::Program& program, const TargetFacts& facts,
                                           const Options& options);

}  // namespace wye::lower
