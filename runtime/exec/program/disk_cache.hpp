// SPDX-License-Identifier: Apache-2.0
//
// DiskCache: the disk cache of a context, and its report. Free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cache/kept.hpp"
#include "cache/store.hpp"
#include "registry/open/host_services.hpp"

namespace wye::exec {

struct DiskCache {
    // Opens the cache that `cache_folder` (empty or absent: off) and `cache_size` of the
    // configuration describe. `refused`: why the folder that was named cannot be used.
    explicit DiskCache(const std::shared_ptr<const registry::HostServices>& host,
                       std::optional<Error> refused = {});
    // If texts of plugins were added, and all texts together exceed an eighth of the size limit,
    // removes the oldest texts.
    ~DiskCache();
    DiskCache(const DiskCache&) = delete;
    DiskCache& operator=(const DiskCache&) = delete;

    const std::optional<Error> refused;
    std::string build;   // the build id of this library; entries of other builds are not used
    std::string folder;  // the cache folder; plugins keep texts such as self-test verdicts in it
    cache::Store store;  // compiled programs, in a subfolder
    const std::int64_t begun_ns;  // when this object was made: ns since 1970, by the clock of files
};

// The error if `cache_size` of the configuration is not a size; the cache of programs is then off.
[[nodiscard]] std::optional<Error> wrong_cache_size(const registry::Config& config);

// The cache report as JSON: folder, problems, limit, counts, entries, texts of plugins.
[[nodiscard]] Result<std::string> cache_json(DiskCache& cache);
// Removes the entries and the texts of plugins; returns the bytes freed.
[[nodiscard]] Result<std::uint64_t> clear_cache(DiskCache& cache);

}  // namespace wye::exec
