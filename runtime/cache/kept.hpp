// SPDX-License-Identifier: Apache-2.0
//
// Lists and removes the texts about drivers that plugins keep in the cache folder
// (wye/sdk/kept_text.hpp). The plugins read and write these files themselves. Other files are left
// alone. Free-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cache {

struct Kept {
    std::string name;  // file name
    std::string kind;  // such as "vulkan-self-test"
    std::string key;   // the conditions under which the text is valid; empty: damaged or unfinished
    std::uint64_t bytes = 0;
    std::int64_t made_ns = 0;  // nanoseconds since 1970
};

// Returns an empty list for an empty or missing folder. Errors: IO, NOT_TRUSTED.
[[nodiscard]] Result<std::vector<Kept>> list_kept(const std::string& folder);
// Returns the bytes freed.
[[nodiscard]] Result<std::uint64_t> clear_kept(const std::string& folder);
// Removes the oldest texts until all texts together have at most `most` bytes. Keeps the user's
// decisions to trust plugins. Returns the bytes that remain; 0 for a missing folder.
std::uint64_t trim_kept(const std::string& folder, std::uint64_t most);

}  // namespace wye::cache
