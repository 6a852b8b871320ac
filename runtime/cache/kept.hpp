// SPDX-License-Identifier: Apache-2.0
//
// What plugins found out about their drivers and keep in the cache folder (wye/sdk/kept_text.hpp):
// listed and removed. The plugins read and write these files themselves. Files with other names are
// left alone. Free-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cache {

struct Kept {
    std::string name;  // of the file
    std::string kind;  // "vulkan-self-test"
    std::string key;   // what it holds for; empty: the file is damaged, or unfinished
    std::uint64_t bytes = 0;
    std::int64_t made_ns = 0;  // of the clock
};

// An empty or missing folder: none. IO, NOT_TRUSTED.
[[nodiscard]] Result<std::vector<Kept>> list_kept(const std::string& folder);
// Gives the bytes that were freed.
[[nodiscard]] Result<std::uint64_t> clear_kept(const std::string& folder);

}  // namespace wye::cache
