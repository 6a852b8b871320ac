// SPDX-License-Identifier: Apache-2.0
//
// The lower stage of a dispatch: a program and a device become a compiled form. May take long.
#pragma once

#include "exec/prepared.hpp"
#include "exec/program.hpp"
#include "lower/lower.hpp"

namespace wye::exec {

// What the lowering may rely on, from the device's self-test; what is not reported is not exact.
[[nodiscard]] lower::TargetFacts target_facts(const registry::Facts& facts);

// An artifact as plugins see it; borrows both.
[[nodiscard]] wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label);

// Lowers to the device's preferred format, or takes the variant that the key names, and compiles.
// UNSUPPORTED, COMPILE_FAILED, or what the driver says.
[[nodiscard]] Result<PreparedRef> prepare(const registry::DeviceRef& device,
                                          const ProgramObject& program, const PreparedKey& key);

}  // namespace wye::exec
