// SPDX-License-Identifier: Apache-2.0
//
// Counts the use of a cache by all processes, in a small file beside the entries. The counts are
// for reports and for the size limit; an update that cannot be made within a few milliseconds is
// dropped.
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
    std::uint64_t bytes = 0;    // total size of the existing entries
    friend bool operator==(const Counts&, const Counts&) = default;
};

class CountsFile {
  public:
    // Measures the total size of the existing entries, in bytes.
    using Recount = std::function<std::uint64_t()>;

    // Without write permission nothing is counted. In a new or damaged file `bytes` starts with the
    // result of `recount`, so that the size limit holds.
    CountsFile(const Folder& folder, Recount recount);

    // Applies `change` while other processes are locked out, and returns the new counts; zeros if
    // the file cannot be read.
    Counts update(const std::function<void(Counts&)>& change);

  private:
    [[nodiscard]] static bool may_write();
    [[nodiscard]] bool lock() const;
    [[nodiscard]] std::optional<Counts> load() const;  // empty: the file is new or damaged

    sdk::Mutex mutex_;
    Recount recount_;
    // Used with `mutex_` held (file locks do not exclude threads of this process).
    Descriptor file_;
};

inline constexpr const char* kCountsName = "counts";

}  // namespace wye::cache
