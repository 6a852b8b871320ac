// SPDX-License-Identifier: Apache-2.0
//
// A folder for one test, and stores in it whose messages are kept.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cache/store.hpp"

namespace wye::cache::test {

inline Bytes bytes(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string text(Bytes from) {
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

struct Rig {
    std::filesystem::path root;
    std::vector<std::string> said;

    Rig() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "wye-cache-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        root = pattern;
    }
    ~Rig() {
        std::error_code ignored;
        std::filesystem::permissions(root, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(root, ignored);
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    [[nodiscard]] std::string folder() const { return (root / "made" / "programs").string(); }
    // A store like that of another process: it shares only the folder.
    [[nodiscard]] Store store(std::uint64_t limit = kDefaultLimit) {
        return Store(folder(), limit, "",
                     [this](const std::string& what) { said.push_back(what); });
    }
    [[nodiscard]] std::filesystem::path file(const std::string& key) const {
        return std::filesystem::path(folder()) / entry_name(bytes(key));
    }
    [[nodiscard]] std::size_t entries() const {
        std::size_t out = 0;
        for (const auto& one : std::filesystem::directory_iterator(folder()))
            out += one.path().filename().string().size() == 32 ? 1 : 0;
        return out;
    }
    [[nodiscard]] std::size_t temporaries() const {
        std::size_t out = 0;
        for (const auto& one : std::filesystem::directory_iterator(folder()))
            out += one.path().filename().string().starts_with("tmp.") ? 1 : 0;
        return out;
    }
};

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const std::filesystem::path& path, const std::string& what) {
    std::ofstream(path, std::ios::binary) << what;
}

}  // namespace wye::cache::test
