// SPDX-License-Identifier: Apache-2.0
//
// ArtifactCache: the disk cache of a context, and what it says of itself. Free-threaded.
#pragma once

#include <memory>
#include <string>

#include "cache/kept.hpp"
#include "cache/store.hpp"
#include "registry/host_services.hpp"

namespace wye::exec {

struct ArtifactCache {
    // From `cache_folder` (empty or absent: off) and `cache_size` of the configuration.
    explicit ArtifactCache(const std::shared_ptr<const registry::HostServices>& host);

    std::string build;   // of this library; entries of another one are not used
    std::string folder;  // of all that is kept; plugins keep what they found out there
    cache::Store store;  // in a folder of it
};

// JSON: folder, trouble, limit, counts, entries, what plugins keep.
[[nodiscard]] Result<std::string> cache_json(ArtifactCache& cache);
// Removes the entries and what plugins keep; gives the bytes freed.
[[nodiscard]] Result<std::uint64_t> clear_cache(ArtifactCache& cache);

}  // namespace wye::exec
