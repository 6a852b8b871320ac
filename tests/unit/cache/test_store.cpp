// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.hpp"

using namespace wye;
using namespace wye::cache;
using namespace wye::cache::test;

TEST_CASE("a miss that nothing was put for is counted all the same") {
    Rig rig;
    {
        Store store = rig.store();
        CHECK_FALSE(store.find(bytes("k")));
        CHECK_FALSE(store.find(bytes("k")));
    }
    CHECK(rig.store().counts().misses == 2);
}

TEST_CASE("what one store puts another finds, and counts are shared") {
    Rig rig;
    {
        Store store = rig.store();
        CHECK_FALSE(store.find(bytes("k")));
        CHECK(store.put(bytes("k"), bytes("value")) > 5);
    }
    Store store = rig.store();
    const auto hit = store.find(bytes("k"));
    REQUIRE(hit);
    CHECK(text(hit->value) == "value");
    CHECK(store.counts() == Counts{1, 1, 1, 0, 0, std::filesystem::file_size(rig.file("k"))});
    CHECK(store.trouble().empty());
    CHECK(rig.said.empty());
    const auto mode = [](const std::filesystem::path& path) {
        return std::filesystem::status(path).permissions();
    };
    CHECK(mode(rig.folder()) == std::filesystem::perms::owner_all);
    CHECK(mode(rig.file("k")) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a folder that is made is marked as a cache, one that is there is left as it is") {
    const Rig rig;
    const std::filesystem::path cache = rig.root / "cache";
    CHECK(prepare_folder(rig.root.string(), true).ok());
    CHECK(std::filesystem::is_empty(rig.root));
    CHECK(prepare_folder((cache / "below").string(), false).ok());
    CHECK_FALSE(std::filesystem::exists(cache));

    CHECK(prepare_folder(cache.string(), false).ok());
    std::ifstream tag(cache / "CACHEDIR.TAG");
    std::string first;
    REQUIRE(std::getline(tag, first));
    CHECK(first == "Signature: 8a477f597d28d172789f06886806bc55");  // as CACHEDIR.TAG requires
    CHECK(prepare_folder(cache.string(), false).ok());
}

TEST_CASE("a folder that the user named is made with its parents, or the failure is an error") {
    const Rig rig;
    CHECK(prepare_folder((rig.root / "some/cache").string(), true).ok());
    CHECK(std::filesystem::exists(rig.root / "some/cache/CACHEDIR.TAG"));
    CHECK(prepare_folder("/proc/wye-cannot-be-made", false).ok());
    for (const char* const wrong : {"/proc/wye-cannot-be-made", "/", "//.", "x"}) {
        CAPTURE(std::string(wrong));
        const auto refused = prepare_folder(wrong, true);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().message.find(wrong) != std::string::npos);
        CHECK(refused.error().fix.starts_with("Fix: "));
    }
}

TEST_CASE("its owner can read and write it, whatever the file mode mask was") {
    Rig rig;
    const mode_t before = ::umask(0777);
    rig.store().put(bytes("key"), bytes("value"));
    ::umask(before);
    const auto mode = [](const std::filesystem::path& path) {
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        return status.st_mode & 0777U;
    };
    CHECK(mode(rig.root / "made") == 0700);
    CHECK(mode(rig.folder()) == 0700);
    std::size_t files = 0;
    for (const auto& one : std::filesystem::directory_iterator(rig.folder())) {
        ++files;
        CHECK(mode(one.path()) == 0600);
    }
    CHECK(files == 2);  // the entry, and the file of counts
}

TEST_CASE("the bytes of an entry that is removed are counted no more") {
    Rig rig;
    Store store = rig.store();
    for (const bool damaged : {true, false}) {
        CHECK(store.put(bytes("k"), bytes("value")) != 0);
        std::string all = read_file(rig.file("k"));
        CHECK(store.counts().bytes == all.size());
        if (damaged) {
            all.back() = static_cast<char>(all.back() ^ 1);
            write_file(rig.file("k"), all);
            CHECK_FALSE(store.find(bytes("k")));
        } else {
            store.reject(bytes("k"), "it does not load");
        }
        CHECK(store.counts().bytes == 0);
    }
}

TEST_CASE("damaged entries are passed over with a word, removed, and made again") {
    Rig rig;
    Store store = rig.store();
    const std::vector<std::function<void(const std::filesystem::path&)>> harms = {
        [](const auto& path) { std::filesystem::resize_file(path, 0); },
        [](const auto& path) { std::filesystem::resize_file(path, 40); },
        [](const auto& path) {
            std::string all = read_file(path);
            all[all.size() / 2] = static_cast<char>(all[all.size() / 2] ^ 4);
            write_file(path, all);
        },
        [](const auto& path) { write_file(path, std::string(100, '\0')); },
        // A sound entry with the right name but another key: a forged fingerprint.
        [](const auto& path) {
            write_file(path, text(pack_entry(bytes("other"), bytes("wrong"))));
        }};
    for (std::size_t n = 0; n < harms.size(); ++n) {
        CAPTURE(n);
        CHECK(store.put(bytes("k"), bytes("value")) != 0);
        harms[n](rig.file("k"));
        CHECK_FALSE(store.find(bytes("k")));
        CHECK_FALSE(std::filesystem::exists(rig.file("k")));
        CHECK(rig.said.size() == n + 1);
        CHECK(rig.said.back().find(rig.file("k").string()) != std::string::npos);
        CHECK(store.counts().damaged == n + 1);
    }
    CHECK(store.put(bytes("k"), bytes("value")) != 0);
    CHECK(store.find(bytes("k")));
}

TEST_CASE("files and folders that others may write to are not trusted") {
    Rig rig;
    Store store = rig.store();
    REQUIRE(store.put(bytes("k"), bytes("value")) != 0);
    REQUIRE(chmod(rig.file("k").c_str(), 0666) == 0);
    CHECK_FALSE(store.find(bytes("k")));
    REQUIRE(chmod(rig.file("k").c_str(), 0600) == 0);
    CHECK(store.find(bytes("k")));

    // A link leads out of the folder.
    std::filesystem::rename(rig.file("k"), rig.root / "elsewhere");
    std::filesystem::create_symlink(rig.root / "elsewhere", rig.file("k"));
    CHECK_FALSE(store.find(bytes("k")));

    REQUIRE(chmod(rig.folder().c_str(), 0777) == 0);
    Store careful = rig.store();
    CHECK(careful.put(bytes("x"), bytes("y")) == 0);
    CHECK_FALSE(careful.find(bytes("x")));
    CHECK(careful.trouble().find("mode 777") != std::string::npos);
    CHECK(careful.trouble().find("Fix: ") != std::string::npos);
    if (geteuid() == 0) {
        REQUIRE(chmod(rig.folder().c_str(), 0700) == 0);
        REQUIRE(chown(rig.folder().c_str(), 12345, 12345) == 0);
        CHECK(rig.store().trouble().find("user 12345") != std::string::npos);
    }
}

TEST_CASE("no folder, a limit of 0 and a folder that cannot be made are no errors") {
    Store none("", kDefaultLimit, "");
    CHECK_FALSE(none.on());
    CHECK(none.put(bytes("k"), bytes("v")) == 0);
    CHECK_FALSE(none.find(bytes("k")));
    CHECK(none.clear().ok());
    Rig rig;
    CHECK(rig.store(0).trouble() == "its size limit is 0");
    CHECK_FALSE(std::filesystem::exists(rig.folder()));

    Store impossible("/proc/wye-cannot-be-made/programs", kDefaultLimit, "",
                     [&](const std::string& what) { rig.said.push_back(what); });
    CHECK(impossible.put(bytes("k"), bytes("v")) == 0);
    CHECK_FALSE(impossible.find(bytes("k")));
    CHECK(rig.said.size() == 1);  // one message, not one for every program
    CHECK(rig.said[0].find("Fix: ") != std::string::npos);
    CHECK_FALSE(impossible.trouble().empty());
}

TEST_CASE("the folder may vanish while it is in use") {
    Rig rig;
    Store store = rig.store();
    REQUIRE(store.put(bytes("k"), bytes("v")) != 0);
    std::filesystem::remove_all(rig.folder());
    CHECK_FALSE(store.find(bytes("k")));
    CHECK(store.put(bytes("k"), bytes("v")) != 0);
    CHECK(store.find(bytes("k")));
}

TEST_CASE("above the limit what was not used for longest goes first") {
    Rig rig;
    const std::string value(10'000, 'v');
    Store store = rig.store(100'000);
    for (int n = 0; n < 9; ++n) {
        const std::string key = "k" + std::to_string(n);
        REQUIRE(store.put(bytes(key), bytes(value)) != 0);
        const timespec time{1'000'000'000 + n, 0};
        const timespec both[2] = {time, time};
        REQUIRE(utimensat(AT_FDCWD, rig.file(key).c_str(), both, 0) == 0);
    }
    CHECK(store.find(bytes("k0")));  // makes k0 the most recently used
    REQUIRE(store.put(bytes("k9"), bytes(value)) != 0);
    CHECK(store.counts().bytes <= 100'000);
    CHECK(store.counts().evicted == 10 - rig.entries());
    CHECK(std::filesystem::exists(rig.file("k0")));
    CHECK_FALSE(std::filesystem::exists(rig.file("k1")));
    CHECK(std::filesystem::exists(rig.file("k8")));
    CHECK(std::filesystem::exists(rig.file("k9")));
    CHECK(store.put(bytes("huge"), bytes(std::string(200'000, 'v'))) == 0);
}

TEST_CASE("what it holds can be listed and cleared") {
    Rig rig;
    Store store = rig.store();
    REQUIRE(store.put(bytes("program=a\n\nbinary"), bytes("v")) != 0);
    write_file(std::filesystem::path(rig.folder()) / "tmp.1.2.3", "half");
    const auto listed = store.list();
    REQUIRE(listed.ok());
    REQUIRE(listed->size() == 1);
    CHECK(listed->front().key == "program=a\n\nbinary");
    CHECK(listed->front().bytes == std::filesystem::file_size(rig.file("program=a\n\nbinary")));
    const auto freed = store.clear();
    REQUIRE(freed.ok());
    CHECK(*freed == listed->front().bytes + 4);
    CHECK(rig.entries() == 0);
    CHECK(rig.temporaries() == 0);
    CHECK(store.counts() == Counts{});
}

TEST_CASE("a full disk and a limit on file sizes leave nothing behind and end nothing") {
    Rig rig;
    REQUIRE(rig.store().put(bytes("small"), bytes("v")) != 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit limit{1000, 1000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
        Store store = rig.store();
        const bool large = store.put(bytes("large"), bytes(std::string(5000, 'v'))) != 0;
        const bool small = store.find(bytes("small")).has_value();
        _exit((large ? 1 : 0) + (small ? 0 : 2) + (rig.said.size() == 1 ? 0 : 4));
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(rig.entries() == 1);
    CHECK(rig.temporaries() == 0);
}
