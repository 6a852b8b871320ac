// SPDX-License-Identifier: Apache-2.0
//
// The lower stage of a dispatch: a program and a device become a compiled form. May take long.
#pragma once

#include "exec/program/compiled.hpp"
#include "exec/program/disk_cache.hpp"
#include "exec/program/program_object.hpp"
#include "lower/lower.hpp"

namespace wye::exec {

// What the lowering may rely on, from the device's self-test; what is not reported is not exact.
[[nodiscard]] lower::TargetFacts target_facts(const registry::Facts& facts);

// An artifact as plugins see it; borrows both.
[[nodiscard]] wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label);

// `lines`: device_lines of the device. From the disk cache; else lowers to the device's preferred
// format, or takes the variant that the key names, and compiles; what is to be kept is
// `stats.unwritten`, or the program stays `unkept` since it has to run first. UNSUPPORTED,
// COMPILE_FAILED, or what the driver says; nothing that is wrong with the cache is an error.
[[nodiscard]] Result<PreparedRef> prepare(const registry::DeviceRef& device,
                                          const std::string& lines, const ProgramObject& program,
                                          const PreparedKey& key, ArtifactCache& cache,
                                          PrepareStats& stats);

// What the disk cache is to keep of a program that is `unkept`; nothing for one that still has to
// run first, or of which the driver gives nothing.
[[nodiscard]] std::optional<CacheEntry> entry_of(Prepared& prepared);

// Writes what is `unwritten`, and counts the bytes. May run between a submit and its wait: when
// memory is short nothing is kept.
void write_entries(PrepareStats& stats, ArtifactCache& cache) noexcept;

}  // namespace wye::exec
