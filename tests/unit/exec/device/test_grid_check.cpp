// SPDX-License-Identifier: Apache-2.0
//
// The program that checks a grid in a buffer, run by the oracle and compared with 128-bit
// arithmetic.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "exec/device/grid_check.hpp"
#include "exec/program/load.hpp"
#include "oracle/oracle.hpp"

namespace wye::exec::test::test_grid_check {
namespace {

using Words = std::vector<std::uint32_t>;
using Grid = std::array<std::uint32_t, 3>;

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t kMost = UINT32_MAX;

std::vector<std::byte> bytes_of(const Words& words) {
    std::vector<std::byte> out(words.size() * 4);
    std::memcpy(out.data(), words.data(), out.size());
    return out;
}

// Whether the language, and a device with these limits, allow such a grid.
bool fits(const Grid& grid, const Grid& most) {
    Wide all = 1;
    for (const std::uint32_t count : grid) all *= count;
    return all <= kMost && grid[0] <= most[0] && grid[1] <= most[1] && grid[2] <= most[2];
}

struct Check {
    ProgramRef program;

    Check() {
        auto loaded = load_text(grid_check_text(), "grid_check", {});
        REQUIRE(loaded.ok());
        program = std::move(loaded).value();
    }
    // Runs the check. In the grid buffer, the numbers of the grid begin at index `first`. `words`:
    // the trap words.
    void run(const Grid& grid, const Grid& most, std::uint32_t first, std::uint32_t number,
             Words& words) const {
        Words wanted(first + 3, 77);
        for (std::size_t axis = 0; axis < 3; ++axis) wanted[first + axis] = grid[axis];
        oracle::Launch launch;
        launch.params = {first, most[0], most[1], most[2], number};
        launch.buffers = {bytes_of(wanted), bytes_of(words)};
        const auto outcome = oracle::run(*program->encoding(), launch);
        REQUIRE(outcome.error == "");
        CHECK(outcome.buffers[0] == launch.buffers[0]);
        std::memcpy(words.data(), outcome.buffers[1].data(), words.size() * 4);
    }
    void run(const Grid& grid, const Grid& most) const {
        CAPTURE(grid[0]);
        CAPTURE(grid[1]);
        CAPTURE(grid[2]);
        Words words(16, 55), expected;
        words[0] = words[1] = 0;
        expected = words;
        const bool some = grid[0] != 0 && grid[1] != 0 && grid[2] != 0;
        const bool good = fits(grid, most);
        for (std::size_t axis = 0; axis < 3; ++axis)
            expected[kGridPlace / 4 + axis] = some && good ? grid[axis] : 0;
        if (some && !good) {
            expected[0] = kGridRefused;
            expected[1] = 1;
            for (std::size_t axis = 0; axis < 3; ++axis) expected[2 + axis] = grid[axis];
            expected[5] = 6;
        }
        run(grid, most, 2, 6, words);
        CHECK(words == expected);
    }
};

TEST_CASE("the check accepts exactly the grids that device and language allow") {
    const Check check;
    constexpr std::uint32_t kValues[] = {0,     1,          2,          65535,     65536,
                                         65537, 0x7fffffff, 0x80000000, kMost - 1, kMost};
    for (const Grid& most : {Grid{kMost, kMost, kMost}, Grid{65535, 65535, 65535},
                             Grid{kMost / 64, kMost, 1}, Grid{1, 1, 1}})
        for (const std::uint32_t x : kValues)
            for (const std::uint32_t y : kValues)
                for (const std::uint32_t z : kValues) check.run({x, y, z}, most);
    // Products around 2^32, and random ones.
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        const auto x = static_cast<std::uint32_t>(random() >> (random() % 32));
        const std::uint32_t y =
            x == 0 ? 1 : kMost / x + static_cast<std::uint32_t>(random() % 3) - 1;
        const auto z =
            static_cast<std::uint32_t>(random() % 3 == 0 ? random() >> (random() % 32) : 1);
        check.run({x, y, z}, {kMost, kMost, kMost});
    }
}

TEST_CASE("the first grid that is refused stays in the words, and traps count with it") {
    const Check check;
    Words words(16, 0);
    constexpr Grid kFew = {10, 10, 10};
    check.run({3, 2, 1}, kFew, 0, 0, words);
    CHECK(words == Words{0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0});
    words[0] = 7;  // an earlier program has trapped twice
    words[1] = 2;
    check.run({11, 2, 1}, kFew, 5, 4, words);
    CHECK(words == Words{kGridRefused, 3, 11, 2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    check.run({1, 12, 1}, kFew, 0, 5, words);
    CHECK(words == Words{kGridRefused, 4, 11, 2, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    check.run({4, 5, 6}, kFew, 0, 6, words);
    CHECK(words == Words{kGridRefused, 4, 11, 2, 1, 4, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace wye::exec::test::test_grid_check
