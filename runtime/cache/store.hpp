// SPDX-License-Identifier: Apache-2.0
//
// Store: values by key in a folder of this user, shared by all processes and bounded in size: what
// was not used for longest goes first. A cache and nothing more: whatever goes wrong with it, the
// caller makes the value again. Each trouble is told to the log once.
//
// Touches no file before the first call that needs one. Free-threaded.
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
    std::string key;  // its beginning, as text
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;
};

class Store {
  public:
    // An empty folder or a limit of 0: off, for the reason given.
    Store(std::string folder, std::uint64_t limit, std::string off_reason, Log log = {});
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    [[nodiscard]] bool on() const noexcept { return off_reason_.empty(); }
    [[nodiscard]] const std::string& folder() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

    // Nothing for whatever reason. Counts a hit or a miss; a miss stands in the file from the next
    // count on, which mostly is that of the entry that was missed.
    [[nodiscard]] std::optional<Hit> find(Bytes key);
    // Drops an entry that turned out to be useless.
    void reject(Bytes key, const std::string& why);
    // The number of bytes it takes on disk; 0: it was not kept.
    std::uint64_t put(Bytes key, Bytes value);

    // Why it is off, or cannot be used; empty: it can.
    [[nodiscard]] std::string trouble();
    [[nodiscard]] Counts counts();
    [[nodiscard]] Result<std::vector<Listed>> list();
    // Removes every entry and forgets the counts; gives the bytes that were freed.
    [[nodiscard]] Result<std::uint64_t> clear();

  private:
    struct OpenFolder;
    [[nodiscard]] std::shared_ptr<OpenFolder> opened();
    [[nodiscard]] std::shared_ptr<OpenFolder> reopened(const std::shared_ptr<OpenFolder>& stale);
    void evict(OpenFolder& opened);
    Counts count(OpenFolder& opened, const std::function<void(Counts&)>& change);
    void tell(const std::string& text);

    std::string path_;
    std::uint64_t limit_;
    std::string off_reason_;
    Log log_;
    sdk::Mutex mutex_;
    std::shared_ptr<OpenFolder> opened_ WYE_GUARDED_BY(mutex_);
    std::optional<Error> error_ WYE_GUARDED_BY(mutex_);  // why it could not be opened
    std::atomic<bool> told_write_ = false;
    std::atomic<std::uint64_t> misses_ = 0;  // that are not in the file yet
};

// "512MiB", "1G", "65536"; letters are powers of 1024. Nothing for what is no size.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

inline constexpr std::uint64_t kDefaultLimit = std::uint64_t{512} << 20U;

}  // namespace wye::cache
