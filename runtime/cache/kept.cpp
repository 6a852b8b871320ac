// SPDX-License-Identifier: Apache-2.0
#include "cache/kept.hpp"

#include <algorithm>
#include <filesystem>

#include "cache/folder.hpp"
#include "wye/sdk/kept_text.hpp"

namespace wye::cache {
namespace {

constexpr const char* kTrust = "plugin-trust-";
// Files with this prefix hold no text, but marks of the processes that are opening a plugin.
constexpr const char* kMark = "plugin-opening-";

// Whether the folder exists. Does not create it.
bool is_there(const std::string& folder) {
    std::error_code ignored;
    return !folder.empty() && std::filesystem::is_directory(folder, ignored);
}

Kept describe(const Folder& folder, const FileInfo& file) {
    Kept out{file.name, file.name.substr(0, file.name.rfind('-')), {}, file.size, file.used_ns};
    if (file.name.starts_with(kMark)) {
        out.key = "processes that are opening a plugin";
        return out;
    }
    const auto bytes = folder.peek(file.name, sdk::kMostKeptBytes);
    if (!bytes.ok()) return out;
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (const auto parts = sdk::kept_parts(text)) out.key = parts->key;
    return out;
}

}  // namespace

Result<std::vector<Kept>> list_kept(const std::string& path) {
    std::vector<Kept> out;
    if (!is_there(path)) return out;
    WYE_ASSIGN(const Folder folder, Folder::open(path));
    WYE_ASSIGN(const std::vector<FileInfo> files, folder.list());
    for (const FileInfo& file : files)
        if (sdk::is_kept_name(file.name)) out.push_back(describe(folder, file));
    std::ranges::sort(out, {}, &Kept::name);
    return out;
}

Result<std::uint64_t> clear_kept(const std::string& path) {
    if (!is_there(path)) return std::uint64_t{0};
    WYE_ASSIGN(const Folder folder, Folder::open(path));
    WYE_ASSIGN(const std::vector<FileInfo> files, folder.list());
    std::uint64_t freed = 0;
    for (const FileInfo& file : files) {
        if (!sdk::is_kept_name(file.name)) continue;
        folder.remove(file.name);
        freed += file.size;
    }
    return freed;
}

std::uint64_t trim_kept(const std::string& path, std::uint64_t most) {
    if (!is_there(path)) return 0;
    const auto folder = Folder::open(path);
    if (!folder.ok()) return 0;
    auto files = folder->list();
    if (!files.ok()) return 0;
    std::ranges::sort(*files, {}, &FileInfo::used_ns);
    std::uint64_t total = 0;
    for (const FileInfo& file : *files) total += sdk::is_kept_name(file.name) ? file.size : 0;
    for (const FileInfo& file : *files) {
        if (total <= most) break;
        if (sdk::is_kept_name(file.name) && !file.name.starts_with(kTrust))
            total -= std::min(total, folder->remove(file.name));
    }
    return total;
}

}  // namespace wye::cache
