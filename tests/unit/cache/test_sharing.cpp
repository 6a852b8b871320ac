// SPDX-License-Identifier: Apache-2.0
//
// Several processes and threads share one folder.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "rig.hpp"

using namespace wye;
using namespace wye::cache;
using namespace wye::cache::test;

namespace {

std::string value_of(int key, std::size_t size) {
    return std::string(size, static_cast<char>('a' + key));
}

// Alternates put and find; false if find returns bytes that were never put.
bool work(Store& store, int seed) {
    for (int round = 0; round < 200; ++round) {
        const int key = (seed * 7 + round) % 8;
        const std::string name = "key" + std::to_string(key);
        if (const auto hit = store.find(bytes(name))) {
            const std::string found = text(hit->value);
            if (found.size() < 500 || found != value_of(key, found.size())) return false;
        }
        // Lengths differ, so that a mixture of two writers would be seen.
        store.put(bytes(name), bytes(value_of(key, 500 + static_cast<std::size_t>(seed) * 100)));
    }
    return true;
}

}  // namespace

TEST_CASE("writers in several processes and threads never show half an entry") {
    Rig rig;
    std::vector<pid_t> children;
    for (int seed = 0; seed < 4; ++seed) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            Store store = rig.store(6000);  // evicts all the time
            bool good = true;
            std::thread other([&] { good = work(store, seed); });
            const bool mine = work(store, seed + 4);
            other.join();
            _exit(good && mine && rig.said.empty() ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
    CHECK(rig.temporaries() == 0);
    Store store = rig.store();
    CHECK(store.counts().damaged == 0);
    for (int key = 0; key < 8; ++key)
        if (const auto hit = store.find(bytes("key" + std::to_string(key))))
            CHECK(text(hit->value) == value_of(key, hit->value.size()));
}

TEST_CASE("a file of a process that died in the middle is no entry, and goes with the next one") {
    Rig rig;
    REQUIRE(rig.store().put(bytes("k"), bytes("v")) != 0);
    const auto left = std::filesystem::path(rig.folder()) / "tmp.99.1.1";
    write_file(left, std::string(100, 'x'));
    std::filesystem::last_write_time(
        left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    Store store = rig.store();
    CHECK(store.find(bytes("k")));
    REQUIRE(store.put(bytes("n"), bytes("v")) != 0);
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(store.counts().evicted == 1);
    CHECK(rig.entries() == 2);
}
