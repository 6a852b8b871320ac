// SPDX-License-Identifier: Apache-2.0
//
// Masks: nested branches and loops, each kind of exit from them, and traps; grids of every shape.
#include <doctest/doctest.h>

#include <algorithm>

#include "rig.hpp"

namespace {
using U32s = std::vector<std::uint32_t>;
}

TEST_CASE("nested loops with break, continue and return do what scalar code does") {
    const std::string text =
        "wye 1; program nested; workgroup 96; output r: u32[]; grid elements len(r);"
        "main { let i = global_id.x; if i >= len(r) { return; } var sum = 0u;"
        " for a in 0u..i % 9u { if a == 5u { continue; } var b = i;"
        "  while b > 2u { b = b / 2u; if b % 4u == 3u { continue; } sum += b;"
        "   if sum > 200u { break; } if b == 11u { r[i] = sum + 100000u; return; } }"
        "  if a * 3u > i % 17u { sum += 1u; break; } else if a == 2u { sum += 7u; } else {"
        "   for k in i % 3u..5u step 1u + i % 2u { if k == 4u { break; } sum += k * a; } } }"
        " r[i] = sum; }";
    const auto scalar = [](std::uint32_t i) {
        std::uint32_t sum = 0;
        for (std::uint32_t a = 0; a < i % 9; ++a) {
            if (a == 5) continue;
            std::uint32_t b = i;
            while (b > 2) {
                b /= 2;
                if (b % 4 == 3) continue;
                sum += b;
                if (sum > 200) break;
                if (b == 11) return sum + 100000;
            }
            if (a * 3 > i % 17) {
                sum += 1;
                break;
            }
            if (a == 2) {
                sum += 7;
            } else {
                for (std::uint32_t k = i % 3; k < 5; k += 1 + i % 2) {
                    if (k == 4) break;
                    sum += k * a;
                }
            }
        }
        return sum;
    };
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        test::Loaded program(rig, text);
        for (const std::size_t count : {1U, 63U, 64U, 511U, 1000U}) {
            const auto result = program.run({}, {test::Bytes(count * 4)});
            REQUIRE(result.failure.message == "");
            U32s expected(count);
            for (std::uint32_t i = 0; i < count; ++i) expected[i] = scalar(i);
            CAPTURE(isa);
            CAPTURE(count);
            CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == expected);
        }
    }
}

TEST_CASE("counted loops stop before they overflow, and a step below one counts as one") {
    test::Rig rig;
    test::Loaded program(
        rig,
        "wye 1; program steps; workgroup 64; param a: i32; param b: i32; param s: i32; output "
        "r: u32[2]; main { if global_id.x != 0u { return; } var n = 0u; for i in a..b step s "
        "{ n += 1u; } r[0u] = n; let z = i32(local_index); var m = 0u; for i in a + z..b + z "
        "step s + z { m += 1u; } r[1u] = m; }");
    const auto rounds = [&](std::int32_t a, std::int32_t b, std::int32_t s) {
        const auto bits = [](std::int32_t v) { return std::uint64_t{std::uint32_t(v)}; };
        const auto result = program.run({bits(a), bits(b), bits(s)}, {test::Bytes(8)}, {{1, 1, 1}});
        const auto r = test::values_of<std::uint32_t>(result.buffers[0]);
        CHECK(r[0] == r[1]);  // uniform bounds, and bounds by lane
        return r[0];
    };
    CHECK(rounds(0, 10, 1) == 10);
    CHECK(rounds(0, 10, 3) == 4);
    CHECK(rounds(5, 5, 1) == 0);
    CHECK(rounds(6, 5, 1) == 0);
    CHECK(rounds(0, 5, 0) == 5);
    CHECK(rounds(0, 5, -4) == 5);
    CHECK(rounds(2147483600, 2147483647, 30) == 2);
    CHECK(rounds(-2147483647 - 1, 2147483647, 2000000000) == 3);
}

TEST_CASE("a trap ends its invocations and leaves the largest code and their number") {
    for (const unsigned threads : {1U, 4U}) {
        test::Rig rig({}, threads);
        test::Loaded program(
            rig,
            "wye 1; program traps; workgroup 64; output r: u32[]; grid elements len(r); main { "
            "let i = global_id.x; if i % 10u == 3u { trap 7; } if i % 10u == 4u { trap 900; } "
            "r[i] = 1u; }");
        const auto result = program.run({}, {test::Bytes(100000 * 4)});
        REQUIRE(result.failure.message == "");
        // 100000 is no multiple of 64: the invocations behind the end of the buffer run, too.
        const std::uint32_t all = (100000 + 63) / 64 * 64;
        std::uint32_t trapped = 0;
        for (std::uint32_t i = 0; i < all; ++i) trapped += i % 10 == 3 || i % 10 == 4 ? 1 : 0;
        CHECK(result.trap_code == 900);
        CHECK(result.trap_count == trapped);
        const auto r = test::values_of<std::uint32_t>(result.buffers[0]);
        CHECK(std::count(r.begin(), r.end(), 0U) == 20000);
    }
}

TEST_CASE("ids are right on grids of every shape") {
    // Row, flat (narrow in x) and group geometry, with and without barrier.
    const std::string head = "wye 1; program ids; workgroup ";
    const std::string body =
        "; output r: u32x4[]; output s: u32x4[]; main {"
        " let g = global_id; let n = num_workgroups * workgroup_size;"
        " let at = g.x + n.x * (g.y + n.y * g.z);"
        " r[at] = u32x4(g.x, g.y, g.z, local_index);"
        " s[at] = u32x4(workgroup_id.x, workgroup_id.y, workgroup_id.z,"
        " local_id.x + 100u * local_id.y + 10000u * local_id.z); }";
    using Three = std::array<std::uint32_t, 3>;
    const Three sizes[] = {{64, 1, 1}, {8, 4, 2}, {1, 1, 1}, {3, 5, 1}, {1, 70, 1}, {100, 2, 1}};
    const Three grids[] = {{1, 1, 1}, {7, 3, 2}, {1, 40, 1}, {20, 1, 3}};
    test::Rig rig({}, 2);
    for (const Three& size : sizes) {
        for (const Three& groups : grids) {
            for (const bool barrier : {false, true}) {
                std::string text = head + std::to_string(size[0]) + ", " + std::to_string(size[1]) +
                                   ", " + std::to_string(size[2]) + body;
                if (barrier) text.insert(text.find("main {") + 6, " barrier;");
                test::Loaded program(rig, text);
                const Three n = {size[0] * groups[0], size[1] * groups[1], size[2] * groups[2]};
                const std::size_t all = std::size_t{n[0]} * n[1] * n[2];
                const auto result =
                    program.run({}, {test::Bytes(all * 16), test::Bytes(all * 16)}, groups);
                REQUIRE(result.failure.message == "");
                U32s r;
                U32s s;
                for (std::uint32_t z = 0; z < n[2]; ++z)
                    for (std::uint32_t y = 0; y < n[1]; ++y)
                        for (std::uint32_t x = 0; x < n[0]; ++x) {
                            const Three l = {x % size[0], y % size[1], z % size[2]};
                            for (const std::uint32_t v :
                                 {x, y, z, l[0] + size[0] * (l[1] + size[1] * l[2])})
                                r.push_back(v);
                            for (const std::uint32_t v : {x / size[0], y / size[1], z / size[2],
                                                          l[0] + 100 * l[1] + 10000 * l[2]})
                                s.push_back(v);
                        }
                CAPTURE(text);
                CAPTURE(groups[0]);
                CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == r);
                CHECK(test::values_of<std::uint32_t>(result.buffers[1]) == s);
            }
        }
    }
}

TEST_CASE("shared memory starts at zero in each workgroup, and barriers order it") {
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa, 3);
        test::Loaded program(
            rig,
            "wye 1; program turn; workgroup 96; output r: u32[]; shared s: u32[96]; shared "
            "dirty: u32[7]; grid elements len(r); main { let i = local_index; let left = "
            "dirty[i % 7u]; barrier; s[i] = global_id.x; atomic_add(dirty[i % 7u], 1u); "
            "barrier; r[global_id.x] = s[95u - i] + left * 1000000u; }");
        const auto result = program.run({}, {test::Bytes(96 * 50 * 4)});
        U32s expected;
        for (std::uint32_t i = 0; i < 96 * 50; ++i) expected.push_back(i / 96 * 96 + 95 - i % 96);
        CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == expected);
    }
}
