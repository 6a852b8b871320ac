// SPDX-License-Identifier: Apache-2.0
//
// Files in which plugins keep texts: their format, and damaged files.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "wye/sdk/build_id.hpp"
#include "wye/sdk/checksum.hpp"
#include "wye/sdk/file_mask.hpp"
#include "wye/sdk/kept_text.hpp"

using namespace wye::sdk;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path;
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "wye-kept-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] fs::path only() const { return fs::directory_iterator(path)->path(); }
};

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, const std::string& what) {
    std::ofstream(path, std::ios::binary) << what;
}

}  // namespace

TEST_CASE("a checksum sees every change within one word, and lengths") {
    std::mt19937_64 random(1);
    for (std::size_t size = 0; size < 40; ++size) {
        std::string text(size, '\0');
        for (char& c : text) c = static_cast<char>(random());
        const std::uint64_t sum = checksum(text);
        CHECK(checksum(text + std::string(1, '\0')) != sum);
        for (std::size_t bit = 0; bit < size * 8; ++bit) {
            std::string changed = text;
            changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1U << bit % 8));
            CHECK(checksum(changed) != sum);
        }
        for (std::size_t word = 0; word + 8 <= size; word += 8) {
            std::string changed = text;
            for (std::size_t i = 0; i < 8; ++i) changed[word + i] = static_cast<char>(random());
            CHECK((checksum(changed) == sum) == (changed == text));
        }
    }
}

TEST_CASE("a kept file gives back its parts, and nothing once a bit is changed or a byte is gone") {
    for (const std::string& key :
         {std::string(), std::string("a key\nof two lines"), std::string(300, 'k')})
        for (const std::string& text :
             {std::string(), std::string("one\ntwo 2\n"), std::string(500, '\n')}) {
            const std::string file = kept_file("some-kind", key, text);
            const auto parts = kept_parts(file);
            REQUIRE(parts);
            CHECK(parts->kind == "some-kind");
            CHECK(parts->key == key);
            CHECK(parts->text == text);
            for (std::size_t size = 0; size < file.size(); ++size)
                CHECK_FALSE(kept_parts(file.substr(0, size)));
            CHECK_FALSE(kept_parts(file + "\n"));
            for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
                std::string changed = file;
                changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1U << bit % 8));
                CHECK_FALSE(kept_parts(changed));
            }
        }
    // A right checksum with wrong sizes.
    for (const std::string head : {"wye kept 1 k 9 1\n", "wye kept 1 k 1 9\n", "wye kept 1 k\n",
                                   "wye kept 1 k 99999999999999999999 1\n", "wye kept 2 k 1 1\n"}) {
        std::string file = head + "a\nb";
        char digits[20];
        std::snprintf(digits, sizeof digits, "%016llx\n",
                      static_cast<unsigned long long>(checksum(file)));
        CHECK_FALSE(kept_parts(file + digits));
    }
}

TEST_CASE("a kept text is read back by its kind, key and build only") {
    const Folder folder;
    const std::string path = folder.path.string();
    CHECK_FALSE(read_kept(path, "kind", "key"));
    REQUIRE(keep_text(path, "kind", "key", "text").ok());
    CHECK(read_kept(path, "kind", "key") == "text");
    CHECK_FALSE(read_kept(path, "kind", "other key"));
    CHECK_FALSE(read_kept(path, "other-kind", "key"));
    const fs::path file = folder.only();
    CHECK(is_kept_name(file.filename().string()));
    const std::string whole = content(file);
    static const char inside = 0;
    CHECK(kept_parts(whole)->key == "key\nbuild=" + build_id(&inside));
    // Sound files with the right name: one of another build, and one of another kind.
    put(file, kept_file("kind", "key\nbuild=00", "wrong"));
    CHECK_FALSE(read_kept(path, "kind", "key"));
    put(file, kept_file("other-kind", kept_parts(whole)->key, "wrong"));
    CHECK_FALSE(read_kept(path, "kind", "key"));
    REQUIRE(keep_text(path, "kind", "key", "new").ok());
    CHECK(read_kept(path, "kind", "key") == "new");
    fs::permissions(file, fs::perms::all);
    CHECK_FALSE(read_kept(path, "kind", "key"));
    drop_kept(path, "kind", "key");
    CHECK(fs::is_empty(folder.path));
    CHECK_FALSE(keep_text(path, "kind", "key", std::string(kMostKeptBytes, 'x')).ok());
    CHECK(fs::is_empty(folder.path));
}

TEST_CASE("folders are made for their owner, whatever the file mode mask is, which can be read") {
    const Folder folder;
    const mode_t before = ::umask(0777);
    CHECK(file_mask().value_or(0777) == 0777);
    const auto done = keep_text((folder.path / "a" / "b").string(), "kind", "key", "text");
    ::umask(before);
    CHECK(file_mask().value_or(before) == before);
    REQUIRE(done.ok());
    for (const char* name : {"a", "a/b"}) {
        struct stat status {};
        REQUIRE(::stat((folder.path / name).c_str(), &status) == 0);
        CHECK((status.st_mode & 0777U) == 0700);
    }
}

TEST_CASE("in a folder that others may write to, nothing is read, written or removed") {
    const Folder folder;
    const std::string path = folder.path.string();
    REQUIRE(keep_text(path, "kind", "key", "text").ok());
    SUBCASE("everyone") { fs::permissions(path, fs::perms::all); }
    SUBCASE("a group") { fs::permissions(path, fs::perms::group_all | fs::perms::owner_all); }
    SUBCASE("its owner, who is another user") {
        if (geteuid() != 0) return;  // only root can give a folder away
        REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
    }
    CHECK_FALSE(read_kept(path, "kind", "key"));
    const auto kept = keep_text(path, "kind", "key", "new");
    REQUIRE_FALSE(kept.ok());
    CHECK(kept.error().message.find("another user may write to the folder") != std::string::npos);
    drop_kept(path, "kind", "key");
    CHECK_FALSE(fs::is_empty(path));
}

TEST_CASE("a pipe or a link under the name of a kept text counts as none, and nobody waits") {
    const Folder folder;
    const std::string path = folder.path.string();
    REQUIRE(keep_text(path, "kind", "key", "text").ok());
    const fs::path file = folder.only();
    fs::rename(file, folder.path / "elsewhere");
    fs::create_symlink(folder.path / "elsewhere", file);
    CHECK_FALSE(read_kept(path, "kind", "key"));
    fs::remove(file);
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
    CHECK_FALSE(read_kept(path, "kind", "key"));
}

TEST_CASE("names of kept files are told from others") {
    CHECK(is_kept_name(kept_name("vulkan-self-test", "any")));
    CHECK(is_kept_name(kept_name("vulkan-self-test", "any") + ".aB3xYz"));
    for (const char* other :
         {"", "programs", "counts", "0123456789abcdef0123456789abcdef", "-0123456789abcdef",
          "notes.txt", "kind-0123456789abcdeg", "Kind-0123456789abcdef", "../x-0123456789abcdef"})
        CHECK_FALSE(is_kept_name(other));
}
