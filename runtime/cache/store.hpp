// SPDX-License-Identifier: Apache-2.0
//
// Store: maps keys to values in a folder of this user, shared by all processes. Above a size limit
// it evicts the least recently used entries. If the store fails, the caller makes the value again.
// A folder that cannot be opened or written is logged once, a damaged entry each time.
//
// Opens no file before the first call that needs one. Free-threaded.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/counts.hpp"
#include "cache/entry.hpp"
#include "cache/folder.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::cache {

using Log = std::function<void(const std::string& text)>;

struct Hit {
    std::vector<std::byte> file;
    Bytes value;  // within `file`
};

struct Listed {
    std::string key;  // the beginning of the key, as text
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;
};

class Store {
  public:
    // An empty folder or a limit of 0 turns the store off; `off_reason` says why. `others` returns
    // the bytes of other files in the folder, which reduce the limit by at most an eighth.
    Store(std::string folder, std::uint64_t limit, std::string off_reason, Log log = {},
          std::function<std::uint64_t()> others = {});
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    [[nodiscard]] bool on() const noexcept { return off_reason_.empty(); }
    [[nodiscard]] const std::string& folder() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

    // Looks a key up; returns nothing on a miss or any failure. Counts a hit or a miss. A miss is
    // written to the counts file with the next update, usually when the missed entry is stored.
    [[nodiscard]] std::optional<Hit> find(Bytes key);
    // Removes an entry that proved unusable.
    void reject(Bytes key, const std::string& why);
    // Stores a value. Returns the number of bytes on disk; 0: it was not stored.
    std::uint64_t put(Bytes key, Bytes value);

    // The reason why the store is off or unusable; empty: it is usable.
    [[nodiscard]] std::string trouble();
    [[nodiscard]] Counts counts();
    [[nodiscard]] Result<std::vector<Listed>> list();
    // Removes every entry and resets the counts; returns the bytes freed.
    [[nodiscard]] Result<std::uint64_t> clear();

  private:
    struct OpenFolder;
    [[nodiscard]] std::shared_ptr<OpenFolder> opened();
    [[nodiscard]] std::shared_ptr<OpenFolder> found();
    [[nodiscard]] std::shared_ptr<OpenFolder> reopened(const std::shared_ptr<OpenFolder>& stale);
    void sweep(OpenFolder& opened);
    void evict(OpenFolder& opened, std::uint64_t limit);
    Counts count(OpenFolder& opened, const std::function<void(Counts&)>& change);
    void tell(const std::string& text);

    std::string path_;
    std::uint64_t limit_;
    std::string off_reason_;
    Log log_;
    std::function<std::uint64_t()> others_;
    sdk::Mutex mutex_;
    std::shared_ptr<OpenFolder> opened_ WYE_GUARDED_BY(mutex_);
    std::optional<Error> error_ WYE_GUARDED_BY(mutex_);  // why the folder could not be opened
    std::atomic<bool> told_write_ = false, swept_ = false;
    std::atomic<std::uint64_t> misses_ = 0;  // misses that are not in the counts file yet
};

inline constexpr std::uint64_t kDefaultLimit = std::uint64_t{512} << 20U;

}  // namespace wye::cache
