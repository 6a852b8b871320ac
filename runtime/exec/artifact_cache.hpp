// SPDX-License-Identifier: Apache-2.0
//
// ArtifactCache: the disk cache of a context, and what it says of itself. Free-threaded.
#pragma once

#include <memory>
#include <string>

#include "cache/store.hpp"
#include "registry/host_services.hpp"

namespace wye::exec {

struct ArtifactCache {
    // From `cache_folder` (empty or absent: off) and `cache_size` of the configuration.
    explicit ArtifactCache(const std::shared_ptr<const registry::HostServices>& host);

    std::string build;  // of this library; entries of another one are not used
    cache::Store store;
};

// JSON: folder, trouble, limit, counts, entries.
[[nodiscard]] Result<std::string> cache_json(ArtifactCache& cache);

}  // namespace wye::exec
