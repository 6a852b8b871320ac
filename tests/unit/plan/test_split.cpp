// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "plan/split.hpp"

namespace wye::plan {
namespace {

TEST_CASE("boxes are runs that cover the grid once each and respect the limit") {
    const struct {
        Count3 groups;
        Count3 limit;
        std::uint32_t boxes;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}, 1},   {{7, 5, 3}, {7, 5, 3}, 1},      {{8, 5, 3}, {7, 5, 3}, 30},
        {{7, 5, 3}, {3, 2, 1}, 45},  {{10, 1, 1}, {4, 65535, 9}, 3}, {{2, 9, 2}, {1, 4, 2}, 36},
        {{64, 1, 1}, {1, 1, 1}, 64}, {{2, 9, 2}, {2, 4, 2}, 6},      {{2, 3, 4}, {2, 3, 2}, 2},
    };
    for (const auto& c : cases) {
        const auto split = split_grid(c.groups, c.limit);
        REQUIRE(split.ok());
        CHECK(split->boxes == c.boxes);
        std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
        for (std::uint32_t i = 0; i < split->boxes; ++i) {
            const Split::Box box = (*split)[i];
            for (std::size_t axis = 0; axis < 3; ++axis) {
                CHECK(box.groups[axis] >= 1);
                CHECK(box.groups[axis] <= c.limit[axis]);
            }
            const auto place = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
                return x + c.groups[0] * (y + c.groups[1] * z);
            };
            std::uint32_t next = place(box.offset[0], box.offset[1], box.offset[2]);
            for (std::uint32_t z = 0; z < box.groups[2]; ++z)
                for (std::uint32_t y = 0; y < box.groups[1]; ++y)
                    for (std::uint32_t x = 0; x < box.groups[0]; ++x) {
                        const std::uint32_t at[] = {box.offset[0] + x, box.offset[1] + y,
                                                    box.offset[2] + z};
                        CHECK(seen.emplace(at[0], at[1], at[2]).second);
                        CHECK(place(at[0], at[1], at[2]) == next++);
                    }
        }
        CHECK(seen.size() == std::size_t{c.groups[0]} * c.groups[1] * c.groups[2]);
    }
}

TEST_CASE("a grid that needs too many launches is refused") {
    const auto split = split_grid({0xffffffffU, 1, 1}, {65535, 65535, 65535});
    REQUIRE(!split.ok());
    CHECK(split.error().code == Code::LIMIT_EXCEEDED);
    CHECK(split.error().message.find("4294967295x1x1") != std::string::npos);
    CHECK(split.error().fix.starts_with("Fix: "));
}

}  // namespace
}  // namespace wye::plan
