// SPDX-License-Identifier: Apache-2.0
#include "registry/find/trust.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace wye::registry {
namespace {

constexpr std::uint32_t kOthersWrite = 0002;
constexpr std::uint32_t kGroupWrites = 0020;
constexpr std::uint32_t kStickyFolder = 01000;
constexpr int kMostLinks = 40;  // the kernel's limit
constexpr std::size_t kMostNames = 4096;

// Adds the names of a path in front of those that remain to be visited. `rest` is a stack: the name
// to visit next is at its back.
void push_names(std::vector<std::string>& rest, std::string_view path) {
    const auto first = static_cast<std::ptrdiff_t>(rest.size());
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (end != 0 && path.substr(0, end) != ".") rest.emplace_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    std::reverse(rest.begin() + first, rest.end());
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string below(const std::string& folder, const std::string& name) {
    return folder == "/" ? folder + name : folder + "/" + name;
}

Error too_long(const std::filesystem::path& path) {
    return {Code::IO, fmt::format("`{}` leads through too many links or folders", path.string()),
            "Fix: remove the loop of links", path.string()};
}

}  // namespace

Trusted trusted_users(bool elevated) {
    Trusted out;
    const std::uint32_t user = ::geteuid();
    if (elevated && user == ::getuid()) return out;
    out.users.push_back(user);
    if (!elevated && ::getegid() == user) out.private_group = user;
    return out;
}

bool Trust::is_trusted(std::uint32_t owner) const noexcept {
    return owner == 0 || std::ranges::find(trusted_.users, owner) != trusted_.users.end();
}

// Judges the owner and permissions of one part of a path. `holds_file`: the part is the file or its
// folder, in which other users must not even add a name. So a sticky bit does not make write access
// acceptable.
void Trust::judge(const std::string& path, const FileStatus& status, bool holds_file,
                  Seen& out) const {
    if (!out.fault.empty()) return;
    if (!is_trusted(status.owner)) {
        out.fault = fmt::format("`{}` belongs to user {}", path, status.owner);
        out.fix = fmt::format("Fix: chown {} '{}'",
                              trusted_.users.empty() ? 0 : trusted_.users.front(), path);
        return;
    }
    if (status.kind == FileStatus::Kind::link) return;  // a link's permissions have no meaning
    const bool is_folder = status.kind == FileStatus::Kind::folder;
    if (is_folder && !holds_file && (status.mode & kStickyFolder) != 0) return;
    if ((status.mode & kOthersWrite) != 0) {
        out.fault = fmt::format("everyone may write to `{}`", path);
        out.fix = fmt::format("Fix: chmod o-w '{}'", path);
    } else if ((status.mode & kGroupWrites) != 0 && status.group != 0 &&
               status.group != trusted_.private_group) {
        out.fault = fmt::format("group {} may write to `{}`", status.group, path);
        out.fix = fmt::format("Fix: chmod g-w '{}'", path);
    }
}

Result<const FileEntry*> Trust::entry(const std::string& path, FileEntry& room) {
    if (const auto at = kept_.find(path); at != kept_.end()) return &at->second;
    WYE_ASSIGN(room, files_.entry(path));
    const bool keep =
        room.status.kind == FileStatus::Kind::folder || room.status.kind == FileStatus::Kind::link;
    return keep ? &kept_.emplace(path, room).first->second : &room;
}

Result<Trust::Seen> Trust::look(const std::filesystem::path& path) {
    Seen out;
    std::vector<std::string> rest;
    push_names(rest, path.native());
    std::string at = "/";
    FileEntry room;
    WYE_ASSIGN(const FileEntry* folder, entry(at, room));
    int links = 0;
    while (!rest.empty()) {
        const std::string name = std::move(rest.back());
        rest.pop_back();
        if (name == "..") {
            at = parent_of(at);
            WYE_ASSIGN(folder, entry(at, room));
            continue;
        }
        const std::string next = below(at, name);
        FileEntry found;
        WYE_ASSIGN(const FileEntry* seen, entry(next, found));
        const FileStatus::Kind kind = seen->status.kind;
        if (kind == FileStatus::Kind::missing) {
            out.real = next;
            return out;
        }
        const bool is_folder = kind == FileStatus::Kind::folder;
        const bool is_link = kind == FileStatus::Kind::link;
        judge(at, folder->status, !is_folder && !is_link, out);
        if (is_link) {
            judge(next, seen->status, false, out);
            if (++links > kMostLinks || rest.size() > kMostNames) return too_long(path);
            if (seen->target.starts_with('/')) at = "/";
            push_names(rest, seen->target);
            WYE_ASSIGN(folder, entry(at, room));
        } else if (is_folder) {
            at = next;
            folder = seen;
        } else {
            out.real = next;
            if (!rest.empty()) return out;  // a name below a file: missing
            judge(next, seen->status, true, out);
            out.status = seen->status;
            return out;
        }
    }
    judge(at, folder->status, true, out);
    out.status = folder->status;
    out.real = at;
    return out;
}

void Trust::add_owners(const std::filesystem::path& folder) {
    const auto seen = look(folder);
    if (!seen.ok()) return;
    for (std::string at = seen->real.string();; at = parent_of(at)) {
        if (const auto kept = kept_.find(at); kept != kept_.end())
            if (!is_trusted(kept->second.status.owner))
                trusted_.users.push_back(kept->second.status.owner);
        if (at == "/") return;
    }
}

}  // namespace wye::registry
