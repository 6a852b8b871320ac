// SPDX-License-Identifier: Apache-2.0
//
// The SPIR-V writer: a program as a module for Vulkan 1.1, the words emitted directly. Pure.
#pragma once

#include "lower/lower.hpp"

namespace wye::lower {

// UNSUPPORTED and LIMIT_EXCEEDED as `lower` says.
[[nodiscard]] Result<Artifact> lower_spirv(const ir::Program& program, const TargetFacts& facts,
                                           const Options& options);

}  // namespace wye::lower
