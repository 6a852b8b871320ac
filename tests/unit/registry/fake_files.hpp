// SPDX-License-Identifier: Apache-2.0
//
// FakeFiles: a small in-memory file system for tests of the search. Paths are absolute; parent
// folders exist implicitly, owned by root with mode 0755. Tests only; one thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "registry/file_system.hpp"
#include "registry/manifest.hpp"
#include "wye/abi.h"

struct FakeFiles : wye::registry::FileSystem {
    struct Node {
        std::string content;
        std::uint32_t mode = 0644;
        std::uint64_t inode = 0;
        bool folder = false;
    };
    std::map<std::string, Node> nodes;
    std::map<std::string, std::string> links;  // path -> path
    mutable std::set<std::string> touched;     // whatever was read or listed

    void file(const std::string& path, std::string content = "", std::uint32_t mode = 0644) {
        for (std::filesystem::path up = std::filesystem::path(path).parent_path();;
             up = up.parent_path()) {
            folder(up.string());
            if (up == up.root_path()) break;
        }
        nodes[path] = {std::move(content), mode, nodes.size() + 1, false};
    }
    void folder(const std::string& path) {
        if (nodes.count(path) == 0) nodes[path] = {"", 0755, nodes.size() + 1, true};
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
               R"(", "abi": {"major": 1, "draft": )" + std::to_string(WYE_ABI_DRAFT) +
               R"(, "minor_needed": 0, "minor_built": 0}, "backend": "x", "version": ")" + version +
               "\"" + more + "}";
    }

    [[nodiscard]] std::string resolve(const std::filesystem::path& path) const {
        const auto at = links.find(path.string());
        return at == links.end() ? path.string() : at->second;
    }

    wye::Result<wye::registry::FileStatus> status(
        const std::filesystem::path& path) const override {
        const auto at = nodes.find(resolve(path));
        if (at == nodes.end()) return wye::registry::FileStatus{};
        wye::registry::FileStatus out;
        out.kind = at->second.folder ? wye::registry::FileStatus::Kind::folder
                                     : wye::registry::FileStatus::Kind::file;
        out.device = 1;
        out.inode = at->second.inode;
        out.mode = at->second.mode;
        out.size = at->second.content.size();
        return out;
    }
    wye::Result<std::vector<std::string>> list(
        const std::filesystem::path& folder,
        std::initializer_list<std::string_view> endings) const override {
        touched.insert(folder.string());
        const std::string real = resolve(folder);
        std::vector<std::string> out;
        for (const auto& [name, node] : nodes) {
            const std::filesystem::path path(name);
            if (path.parent_path() != real || path == real) continue;
            const std::string file = path.filename().string();
            for (const std::string_view end : endings)
                if (file.size() >= end.size() &&
                    file.compare(file.size() - end.size(), end.size(), end) == 0)
                    out.push_back(file);
        }
        return out;
    }
    wye::Result<std::string> read(const std::filesystem::path& path,
                                  std::size_t limit) const override {
        touched.insert(path.string());
        const auto at = nodes.find(resolve(path));
        if (at == nodes.end()) return wye::Error(wye::Code::IO, "no such file", "Fix: none");
        if (at->second.content.size() > limit)
            return wye::Error(wye::Code::LIMIT_EXCEEDED, "too long", "Fix: shorten it");
        return at->second.content;
    }
    wye::Result<std::filesystem::path> canonical(const std::filesystem::path& path) const override {
        return std::filesystem::path(resolve(path));
    }
};
