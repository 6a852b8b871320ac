// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lower/middle/leaves.hpp"

using namespace wye;
using ir::Kind;
using lower::middle::Leaf;
using lower::middle::Outer;

TEST_CASE("an index is compared with the count, as far as its kind reaches") {
    using lower::middle::length_of;
    const auto literal = [](std::uint64_t elements, Kind index) {
        const Leaf leaf = length_of({.fixed = true, .elements = elements}, index);
        CHECK_FALSE(leaf.outer.has_value());
        return leaf;
    };
    const std::uint64_t large = std::uint64_t{1} << 40U;
    CHECK(literal(7, Kind::U32).bits == 7);
    CHECK(literal(7, Kind::U32).kind == Kind::U32);
    CHECK(literal(large, Kind::U32).bits == 0xffffffffU);
    // As an i32, an index from 2^31 on would be negative.
    CHECK(literal(large, Kind::I32).bits == 0x80000000U);
    CHECK(literal(large, Kind::I64).bits == large);
    CHECK(literal(7, Kind::U64).kind == Kind::U64);
    CHECK(length_of({.buffer = 3}, Kind::U32).outer == Outer::Length);
    CHECK(length_of({.buffer = 3}, Kind::I32).outer == Outer::SignedLength);
    CHECK(length_of({.buffer = 3}, Kind::I64).outer == Outer::Length64);
    CHECK(length_of({.buffer = 3}, Kind::U64).bits == 3);
}

TEST_CASE("ids along an axis with one invocation are those of the workgroup") {
    using lower::middle::built_in;
    const lower::middle::Sizes sizes{{64, 1, 2}, 32};
    CHECK(built_in(WYE_BUILTIN_GLOBAL_ID, 0, sizes).outer == Outer::GlobalId);
    CHECK(built_in(WYE_BUILTIN_GLOBAL_ID, 1, sizes).outer == Outer::WorkgroupId);
    CHECK(built_in(WYE_BUILTIN_GLOBAL_ID, 1, sizes).bits == 1);
    CHECK_FALSE(built_in(WYE_BUILTIN_LOCAL_ID, 1, sizes).outer.has_value());
    CHECK(built_in(WYE_BUILTIN_LOCAL_ID, 1, sizes).bits == 0);
    CHECK(built_in(WYE_BUILTIN_LOCAL_ID, 2, sizes).outer == Outer::LocalId);
    CHECK(built_in(WYE_BUILTIN_WORKGROUP_SIZE, 2, sizes).bits == 2);
    CHECK(built_in(WYE_BUILTIN_NUM_SUBGROUPS, 0, sizes).bits == 4);
    CHECK(built_in(WYE_BUILTIN_LOCAL_INDEX, 0, sizes).outer == Outer::LocalIndex);
    CHECK(built_in(WYE_BUILTIN_LOCAL_INDEX, 0, {{1, 1, 1}, 0}).bits == 0);
}
