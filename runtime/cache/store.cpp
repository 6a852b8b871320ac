// SPDX-License-Identifier: Apache-2.0
#include "cache/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace wye::cache {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;  // limit of one entry
constexpr std::uint64_t kKeyShown = 4096;
constexpr std::int64_t kAbandonedNs = 3600 * std::int64_t{1'000'000'000};

bool is_entry(const FileInfo& file) {
    return file.name.size() == 32 &&
           file.name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::uint64_t entry_bytes(const Folder& folder) {
    std::uint64_t out = 0;
    if (const auto listed = folder.list(); listed.ok())
        for (const FileInfo& file : *listed) out += is_entry(file) ? file.size : 0;
    return out;
}

// Whether a temporary file is so old that the process which wrote it has ended.
bool is_abandoned(const FileInfo& file) {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    return file.name.starts_with(kTemporary) && now - file.used_ns > kAbandonedNs;
}

}  // namespace

struct Store::OpenFolder {
    explicit OpenFolder(Folder opened)
        : folder(std::move(opened)), counts(folder, [this] { return entry_bytes(folder); }) {}
    OpenFolder(const OpenFolder&) = delete;
    OpenFolder& operator=(const OpenFolder&) = delete;
    Folder folder;
    CountsFile counts;
};

Store::Store(std::string folder, std::uint64_t limit, std::string off_reason, Log log,
             std::function<std::uint64_t()> others)
    : path_(std::move(folder)),
      limit_(limit),
      off_reason_(std::move(off_reason)),
      log_(std::move(log)),
      others_(std::move(others)) {
    if (off_reason_.empty() && limit_ == 0) off_reason_ = "its size limit is 0";
    if (off_reason_.empty() && path_.empty())
        off_reason_ = "it has no folder. Fix: set WYE_CACHE_DIR (or `cache_folder`) to one";
}

Store::~Store() {
    if (opened_ && misses_ != 0) count(*opened_, [](Counts&) {});
}

// Applies a change and adds the misses since the last update. A miss alone causes no update, since
// an update takes several system calls.
Counts Store::count(OpenFolder& open, const std::function<void(Counts&)>& change) {
    return open.counts.update([&](Counts& c) {
        c.misses += misses_.exchange(0);
        change(c);
    });
}

void Store::tell(const std::string& text) {
    if (log_) log_(text);
}

std::shared_ptr<Store::OpenFolder> Store::opened() {
    if (!on()) return nullptr;
    const sdk::Lock lock(mutex_);
    if (opened_ || error_) return opened_;
    auto folder = Folder::open(path_);
    if (folder.ok()) {
        opened_ = std::make_shared<OpenFolder>(std::move(folder).value());
    } else {
        error_ = std::move(folder).error();
        tell("compiled programs are not kept: " + error_->text());
    }
    return opened_;
}

// Opens the folder again after it was removed by someone else.
std::shared_ptr<Store::OpenFolder> Store::reopened(const std::shared_ptr<OpenFolder>& stale) {
    {
        const sdk::Lock lock(mutex_);
        if (opened_ == stale) opened_.reset();
    }
    return opened();
}

std::optional<Hit> Store::find(Bytes key) {
    const std::shared_ptr<OpenFolder> open = opened();
    if (!open) return std::nullopt;
    const std::string name = entry_name(key);
    auto file = open->folder.read(name, kMostBytes);
    if (file.ok()) {
        Hit hit{std::move(file).value(), {}};
        const auto parts = unpack_entry(hit.file);
        if (parts.ok() && std::ranges::equal(parts->key, key)) {
            hit.value = parts->value;
            count(*open, [](Counts& c) { ++c.hits; });
            return hit;
        }
        reject(key, parts.ok() ? "it belongs to another key" : parts.error().message);
    } else if (file.error().code != Code::NOT_FOUND) {
        tell("an entry was ignored: " + file.error().text());
    }
    ++misses_;
    return std::nullopt;
}

void Store::reject(Bytes key, const std::string& why) {
    const std::shared_ptr<OpenFolder> open = opened();
    if (!open) return;
    const std::string name = entry_name(key);
    const std::uint64_t removed = open->folder.remove(name);
    count(*open, [&](Counts& c) {
        ++c.damaged;
        c.bytes -= std::min(c.bytes, removed);
    });
    tell(fmt::format("the entry `{}/{}` was ignored and removed: {}", path_, name, why));
}

std::uint64_t Store::put(Bytes key, Bytes value) {
    std::shared_ptr<OpenFolder> open = opened();
    const std::vector<std::byte> file = pack_entry(key, value);
    if (!open || file.size() > std::min(kMostBytes, limit_)) return 0;
    const std::string name = entry_name(key);
    auto replaced = open->folder.replace(name, file);
    if (!replaced.ok() && replaced.error().native_code == ENOENT) {
        open = reopened(open);
        if (!open) return 0;
        replaced = open->folder.replace(name, file);
    }
    if (!replaced.ok()) {
        if (!told_write_.exchange(true))
            tell("a compiled program was not kept: " + replaced.error().text());
        return 0;
    }
    if (!swept_.exchange(true)) sweep(*open);
    const Counts counts = count(*open, [&](Counts& c) {
        ++c.stored;
        c.bytes += file.size();
        c.bytes -= std::min(c.bytes, *replaced);
    });
    const std::uint64_t limit = limit_ - std::min(others_ ? others_() : 0, limit_ / 8);
    if (counts.bytes > limit) evict(*open, limit);
    return file.size();
}

// Removes the temporary files that processes left when they ended; counts them as evicted.
void Store::sweep(OpenFolder& open) {
    const auto listed = open.folder.list();
    if (!listed.ok()) return;
    std::uint64_t removed = 0;
    for (const FileInfo& file : *listed) {
        if (!is_abandoned(file)) continue;
        open.folder.remove(file.name);
        ++removed;
    }
    if (removed != 0) count(open, [&](Counts& c) { c.evicted += removed; });
}

// Evicts entries down to 90 % of the limit, so that not every new entry evicts another.
void Store::evict(OpenFolder& open, std::uint64_t limit) {
    auto listed = open.folder.list();
    if (!listed.ok()) return;
    std::vector<FileInfo> entries;
    std::uint64_t total = 0;
    for (FileInfo& file : *listed) {
        if (!is_entry(file)) continue;
        total += file.size;
        entries.push_back(std::move(file));
    }
    std::ranges::sort(entries, {}, &FileInfo::used_ns);
    std::uint64_t removed = 0;
    const std::uint64_t wanted = total > limit ? limit / 10 * 9 : limit;
    for (const FileInfo& file : entries) {
        if (total <= wanted) break;
        open.folder.remove(file.name);
        total -= file.size;
        ++removed;
    }
    count(open, [&](Counts& c) {
        c.bytes = total;
        c.evicted += removed;
    });
}

// Like `opened`, but also works while the store is off, since earlier processes may have kept
// entries.
std::shared_ptr<Store::OpenFolder> Store::found() {
    std::error_code none;
    if (on() || path_.empty() || !std::filesystem::is_directory(path_, none)) return opened();
    auto folder = Folder::open(path_);
    return folder.ok() ? std::make_shared<OpenFolder>(std::move(folder).value()) : nullptr;
}

std::string Store::trouble() {
    if (!on()) return off_reason_;
    if (opened()) return {};
    const sdk::Lock lock(mutex_);
    return error_ ? error_->text() : std::string();
}

Counts Store::counts() {
    const std::shared_ptr<OpenFolder> open = opened();
    return open ? count(*open, [](Counts&) {}) : Counts();
}

Result<std::vector<Listed>> Store::list() {
    std::vector<Listed> out;
    const std::shared_ptr<OpenFolder> open = found();
    if (!open) return out;
    WYE_ASSIGN(const std::vector<FileInfo> files, open->folder.list());
    for (const FileInfo& file : files) {
        if (!is_entry(file)) continue;
        Listed& listed = out.emplace_back();
        listed.bytes = file.size;
        listed.used_ns = file.used_ns;
        const auto beginning = open->folder.peek(file.name, kKeyShown);
        if (!beginning.ok()) continue;
        const Bytes key = key_of_beginning(*beginning);
        listed.key.assign(reinterpret_cast<const char*>(key.data()), key.size());
    }
    std::ranges::sort(out, std::greater(), &Listed::used_ns);
    return out;
}

Result<std::uint64_t> Store::clear() {
    const std::shared_ptr<OpenFolder> open = found();
    if (!open) return std::uint64_t{0};
    WYE_ASSIGN(const std::vector<FileInfo> files, open->folder.list());
    std::uint64_t freed = 0;
    for (const FileInfo& file : files) {
        if (!is_entry(file) && !file.name.starts_with(kTemporary)) continue;
        open->folder.remove(file.name);
        freed += file.size;
    }
    count(*open, [](Counts& c) { c = {}; });
    return freed;
}

}  // namespace wye::cache
