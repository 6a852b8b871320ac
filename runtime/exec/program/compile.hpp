// SPDX-License-Identifier: Apache-2.0
//
// Makes the compiled form of a program for a device: from the disk cache, else by lowering and the
// driver's compiler. Used by the submit step and when preparing a program. May take long.
#pragma once

#include "exec/program/compiled_program.hpp"
#include "exec/program/disk_cache.hpp"
#include "exec/program/loaded_program.hpp"

namespace wye::exec {

// `format`: chosen by the route. `facts`, `lines`: the results of target_facts and device_lines for
// the device. A new entry for the disk cache is appended to `stats.unwritten`. If the driver can
// save the program only after its first launch, the compiled program has `unsaved` instead. Errors:
// UNSUPPORTED, COMPILE_FAILED, errors of the driver; a fault of the cache is never an error.
[[nodiscard]] Result<CompiledRef> compile(const registry::DeviceRef& device,
                                          const lower::TargetFacts& facts, const std::string& lines,
                                          const LoadedProgram& program, const Form& form,
                                          std::string_view format, DiskCache& cache,
                                          CompileStats& stats);

// Makes the disk cache entry of a program that has `unsaved`. No entry: the program must run first,
// or the driver cannot save it.
[[nodiscard]] std::optional<CacheEntry> entry_of(CompiledProgram& compiled);

// Writes the `unwritten` entries and counts their bytes. Drops the rest if memory runs out.
void save_entries(CompileStats& stats, DiskCache& cache) noexcept;

}  // namespace wye::exec
