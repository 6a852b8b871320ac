// SPDX-License-Identifier: Apache-2.0
//
// The lower stage of a dispatch: a program and a device become a compiled form. May take long.
#pragma once

#include "exec/artifact_cache.hpp"
#include "exec/prepared.hpp"
#include "exec/program.hpp"
#include "lower/lower.hpp"

namespace wye::exec {

// What the lowering may rely on, from the device's self-test; what is not reported is not exact.
[[nodiscard]] lower::TargetFacts target_facts(const registry::Facts& facts);

// An artifact as plugins see it; borrows both.
[[nodiscard]] wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label);

// From the disk cache; else lowers to the device's preferred format, or takes the variant that the
// key names, compiles, and keeps the outcome there. UNSUPPORTED, COMPILE_FAILED, or what the driver
// says; nothing that is wrong with the cache is an error.
[[nodiscard]] Result<PreparedRef> prepare(const registry::DeviceRef& device,
                                          const ProgramObject& program, const PreparedKey& key,
                                          ArtifactCache& cache, PrepareStats& stats);

// Puts into the disk cache what is not there yet; gives the bytes it takes. A program that has to
// run first stays `unkept`.
std::uint64_t keep(Prepared& prepared, ArtifactCache& cache);

}  // namespace wye::exec
