// SPDX-License-Identifier: Apache-2.0
//
// FakeFiles: a small in-memory file system for tests of the search. Paths are absolute; parent
// folders exist implicitly, owned by root with mode 0755. Tests only; one thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "registry/file_system.hpp"
#include "registry/find/manifest.hpp"
#include "wye/abi.h"

struct FakeFiles : wye::registry::FileSystem {
    struct Node {
        std::string content;
        std::uint32_t mode = 0644;
        std::uint64_t inode = 0;
        bool folder = false;
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
        std::int64_t modified_ns = 0;
    };
    std::map<std::string, Node> nodes;
    std::map<std::string, std::string> links;          // path -> path
    std::map<std::string, std::uint32_t> link_owners;  // other links belong to root
    mutable std::set<std::string> touched;             // whatever was read or listed
    mutable std::size_t looks = 0;                     // calls of status and entry

    void file(const std::string& path, std::string content = "", std::uint32_t mode = 0644) {
        for (std::filesystem::path up = std::filesystem::path(path).parent_path();;
             up = up.parent_path()) {
            folder(up.string());
            if (up == up.root_path()) break;
        }
        nodes[path] = {std::move(content), mode, nodes.size() + 1, false, 0, 0, 0};
    }
    void folder(const std::string& path) {
        if (nodes.count(path) == 0) nodes[path] = {"", 0755, nodes.size() + 1, true, 0, 0, 0};
    }
    // A library and its manifest in `place`.
    void plugin(const std::string& place, const std::string& id,
                const std::string& version = "0.1.0", const std::string& more = "") {
        file(place + "/wye_" + id + ".so", "code");
        file(place + "/wye_" + id + ".wye.json", manifest(id, version, more));
    }
    static std::string manifest(const std::string& id, const std::string& version = "0.1.0",
                                const std::string& more = "") {
        return R"({"schema": 1, "id": ")" + id + R"(", "library": "wye_)" + id +
               R"(.so", "arch": ")" + std::string(wye::registry::host_arch()) +
               R"(", "abi": {"major": 1, "draft": )" + std::to_string(WYE_ABI_MINOR_DRAFT) +
               R"(, "minor_needed": 0, "minor_built": 0}, "backend": "x", "version": ")" + version +
               "\"" + more + "}";
    }

    [[nodiscard]] std::string resolve(const std::filesystem::path& path) const {
        const auto at = links.find(path.string());
        return at == links.end() ? path.string() : at->second;
    }

    [[nodiscard]] static wye::registry::FileStatus status_of(const Node& node) {
        wye::registry::FileStatus out;
        out.kind = node.folder ? wye::registry::FileStatus::Kind::folder
                               : wye::registry::FileStatus::Kind::file;
        out.device = 1;
        out.inode = node.inode;
        out.mode = node.mode;
        out.owner = node.owner;
        out.group = node.group;
        out.size = node.content.size();
        out.modified_ns = node.modified_ns;
        return out;
    }
    wye::Result<wye::registry::FileStatus> status(
        const std::filesystem::path& path) const override {
        ++looks;
        const auto at = nodes.find(resolve(path));
        if (at == nodes.end()) return wye::registry::FileStatus{};
        return status_of(at->second);
    }
    wye::Result<wye::registry::FileEntry> entry(const std::filesystem::path& path) const override {
        ++looks;
        if (const auto link = links.find(path.string()); link != links.end()) {
            wye::registry::FileStatus out;
            out.kind = wye::registry::FileStatus::Kind::link;
            out.mode = 0777;
            const auto owner = link_owners.find(path.string());
            if (owner != link_owners.end()) out.owner = owner->second;
            return wye::registry::FileEntry{out, link->second};
        }
        const auto at = nodes.find(path.string());
        if (at == nodes.end()) return wye::registry::FileEntry{};
        return wye::registry::FileEntry{status_of(at->second), {}};
    }
    wye::Result<std::vector<wye::registry::FileNames>> list(
        const std::filesystem::path& folder, std::span<const std::string_view> endings,
        std::size_t most) const override {
        touched.insert(folder.string());
        const std::string real = resolve(folder);
        std::vector<wye::registry::FileNames> out(endings.size());
        for (const auto& [name, node] : nodes) {
            const std::filesystem::path path(name);
            if (path.parent_path() != real || path == real) continue;
            const std::string file = path.filename().string();
            for (std::size_t i = 0; i < endings.size(); ++i) {
                if (!file.ends_with(endings[i])) continue;
                if (out[i].names.size() < most)
                    out[i].names.push_back(file);
                else
                    ++out[i].left_out;
            }
        }
        return out;
    }
    wye::Result<wye::registry::FileContent> read(const std::filesystem::path& path,
                                                 std::size_t limit) const override {
        touched.insert(path.string());
        const auto at = nodes.find(path.string());
        if (at == nodes.end()) return wye::Error(wye::Code::IO, "no such file", "Fix: none");
        if (at->second.content.size() > limit)
            return wye::Error(wye::Code::LIMIT_EXCEEDED, "too long", "Fix: shorten it");
        if (before_read) before_read(path.string());
        return wye::registry::FileContent{status_of(at->second), at->second.content};
    }
    // Called when a file is read, before its content is returned: a test may replace the file.
    std::function<void(const std::string&)> before_read;
};
