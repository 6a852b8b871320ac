// SPDX-License-Identifier: Apache-2.0
//
// Counts of a cache's use by all processes, in a small file beside the entries. For people and for
// the size limit; an update that cannot be made within some milliseconds is dropped.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/folder.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::cache {

struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t stored = 0;
    std::uint64_t evicted = 0;
    std::uint64_t damaged = 0;  // entries that were found damaged and removed
    std::uint64_t bytes = 0;    // of the existing entries
    friend bool operator==(const Counts&, const Counts&) = default;
};

class CountsFile {
  public:
    // Measures the bytes of the existing entries.
    using Recount = std::function<std::uint64_t()>;

    // Without write permission, nothing is counted. A new or damaged file starts with the result of
    // `recount`, so that the size limit holds.
    CountsFile(const Folder& folder, Recount recount);

    // Applies `change`, excluding other processes, and returns the new counts; zeros if the file
    // cannot be read.
    Counts update(const std::function<void(Counts&)>& change);

  private:
    [[nodiscard]] static bool may_write();
    [[nodiscard]] bool lock() const;
    [[nodiscard]] std::optional<Counts> load() const;  // nothing: new or damaged

    sdk::Mutex mutex_;
    Recount recount_;
    Descriptor file_;  // read and written with the mutex held, which other processes do not see
};

inline constexpr const char* kCountsName = "counts";

}  // namespace wye::cache
