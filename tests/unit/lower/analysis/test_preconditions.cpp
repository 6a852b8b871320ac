// SPDX-License-Identifier: Apache-2.0
//
// Tests preconditions against the indices computed here in plain C++: where the preconditions of a
// launch hold, no index may be out of range. They must hold for typical launches.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "lower/analysis/ranges.hpp"
#include "lower/lower.hpp"
#include "programs.hpp"

namespace test_preconditions {

namespace {

using wye::lower::LaunchFacts;
using wye::lower::Preconditions;
using u32 = std::uint32_t;

constexpr u32 kSize[2] = {4, 2};  // of a workgroup

struct Ids {
    u32 x, y;
};

// A program over params w, h, s and a buffer `a` of any length, and the elements of `a` that one
// invocation touches.
struct Case {
    const char* what;
    const char* body;
    std::function<void(Ids, u32 w, u32 h, u32 s, u32 n, const std::function<void(u32)>&)> touches;
};

const Case kCases[] = {
    {"rows", "if x < w && y < h { r[y * w + x] = a[y * w + x]; }",
     [](Ids id, u32 w, u32 h, u32, u32, const auto& touch) {
         if (id.x < w && id.y < h) touch(id.y * w + id.x);
     }},
    {"another pitch", "if x < w && y < h { r[0u] = a[y * s + x]; }",
     [](Ids id, u32 w, u32 h, u32 s, u32, const auto& touch) {
         if (id.x < w && id.y < h) touch(id.y * s + id.x);
     }},
    {"no guard", "r[0u] = a[x + y * num_workgroups.x * 4u + s];",
     [](Ids id, u32, u32, u32 s, u32 groups, const auto& touch) {
         touch(id.x + id.y * groups * 4 + s);
     }},
    {"neighbours round a torus",
     "if x < w && y < h { let left = select(x == 0u, w, x) - 1u; let right = select(x == w - 1u, "
     "0u, x + 1u); r[0u] = a[y * w + left] + a[y * w + right]; }",
     [](Ids id, u32 w, u32 h, u32, u32, const auto& touch) {
         if (id.x >= w || id.y >= h) return;
         touch(id.y * w + (id.x == 0 ? w : id.x) - 1);
         touch(id.y * w + (id.x == w - 1 ? 0 : id.x + 1));
     }},
    {"a loop in steps", "for i in x..w step s { r[0u] = a[i + h]; }",
     [](Ids id, u32 w, u32 h, u32 s, u32, const auto& touch) {
         for (std::uint64_t i = id.x; i < w; i += std::max(s, 1U)) touch(static_cast<u32>(i) + h);
     }},
    {"a select that becomes a branch", "r[0u] = select(x < w && y < h, a[y * w + x], 7u);",
     [](Ids id, u32 w, u32 h, u32, u32, const auto& touch) {
         if (id.x < w && id.y < h) touch(id.y * w + id.x);
     }},
    {"a function", "if x < w { r[0u] = look(x, s) + look(x, h); }",
     [](Ids id, u32 w, u32 h, u32 s, u32, const auto& touch) {
         if (id.x < w) touch(id.x + s);
         if (id.x < w) touch(id.x + h);
     }},
    {"what a difference can be", "if x < w && x > s { r[0u] = a[x - s] + a[w - x]; }",
     [](Ids id, u32 w, u32, u32 s, u32, const auto& touch) {
         if (id.x >= w || id.x <= s) return;
         touch(id.x - s);
         touch(w - id.x);
     }},
    {"shifts and quotients", "if x < w { r[0u] = a[(x << 1u) + (h >> 1u) + s / 3u + x % 3u]; }",
     [](Ids id, u32 w, u32 h, u32 s, u32, const auto& touch) {
         if (id.x < w) touch((id.x << 1) + (h >> 1) + s / 3 + id.x % 3);
     }},
};

wye::ir::Program program_of(const Case& c) {
    return valid_program(std::string(R"(wye 1; program p; workgroup 4, 2;
param w: u32; param h: u32; param s: u32; input a: u32[]; output r: u32[];
fn look(i: u32, d: u32) -> u32 { return a[i + d]; }
main { let x = global_id.x; let y = global_id.y; )") +
                         c.body + " }");
}

// The length of `r`: the stores to r[0] and r[y * w + x] must not decide whether preconditions
// hold.
constexpr std::uint64_t kPlenty = 0xfffffff0U;

}  // namespace

TEST_CASE("where the preconditions hold, no access is out of range") {
    const u32 values[] = {0, 1, 3, 4, 7, 8, 0x7fffffff, 0x80000001, 0xfffffffe, 0xffffffff};
    const std::uint64_t lengths[] = {0, 1, 8, 21, 32, 40, 0xffffffff, 0x100000007};
    for (const Case& c : kCases) {
        const auto program = program_of(c);
        const Preconditions conditions = wye::lower::preconditions(program, program.workgroup);
        REQUIRE_MESSAGE(!conditions.empty(), std::string(c.what));
        unsigned held = 0;
        for (unsigned n = 0; n < 10 * 10 * 10 * 8 * 4; ++n) {
            const u32 w = values[n % 10], h = values[n / 10 % 10], s = values[n / 100 % 10];
            const std::uint64_t length = lengths[n / 1000 % 8];
            const u32 gx = n / 8000 % 2 + 1, gy = n / 16000 % 2 + 1;
            const std::uint64_t params[] = {w, h, s};
            const std::uint64_t counts[] = {length, kPlenty};
            if (!conditions.hold({params, counts, {gx, gy, 1}, program.workgroup})) continue;
            ++held;
            bool inside = true;
            // Loops of more than a thousand iterations are left out, since they would take long.
            for (u32 y = 0; y < gy * kSize[1]; ++y)
                for (u32 x = 0; x < gx * kSize[0]; ++x) {
                    if (std::string(c.what) == "a loop in steps" && w > 1000) continue;
                    c.touches({x, y}, w, h, s, gx, [&](u32 at) {
                        inside = inside && at < std::min<std::uint64_t>(length, 0xffffffffU);
                    });
                }
            CHECK_MESSAGE(inside, c.what << ": w " << w << ", h " << h << ", s " << s << ", length "
                                         << length << ", groups " << gx << " x " << gy);
        }
        CHECK_MESSAGE(held > 100, std::string(c.what));
    }
}

TEST_CASE("launches as programs mean them fulfil the preconditions") {
    const auto holds = [](const Case& c, u32 w, u32 h, u32 s, std::uint64_t length, u32 gx,
                          u32 gy) {
        const auto program = program_of(c);
        const std::uint64_t params[] = {w, h, s};
        const std::uint64_t counts[] = {length, kPlenty};
        return wye::lower::preconditions(program, program.workgroup)
            .hold({params, counts, {gx, gy, 1}, program.workgroup});
    };
    CHECK(holds(kCases[0], 7, 3, 0, 21, 2, 2));
    CHECK_FALSE(holds(kCases[0], 7, 3, 0, 20, 2, 2));
    CHECK(holds(kCases[1], 7, 3, 8, 23, 2, 2));
    CHECK_FALSE(holds(kCases[1], 7, 3, 8, 22, 2, 2));
    CHECK(holds(kCases[2], 0, 0, 3, 35, 2, 2));
    CHECK_FALSE(holds(kCases[2], 0, 0, 3, 34, 2, 2));
    CHECK(holds(kCases[3], 7, 3, 0, 21, 2, 2));
    CHECK_FALSE(holds(kCases[3], 7, 3, 0, 20, 2, 2));
    CHECK(holds(kCases[4], 100, 5, 8, 105, 2, 1));
    CHECK_FALSE(holds(kCases[4], 100, 5, 8, 104, 2, 1));
    CHECK(holds(kCases[5], 7, 3, 0, 21, 2, 2));
    CHECK(holds(kCases[6], 7, 3, 2, 10, 2, 2));
    CHECK_FALSE(holds(kCases[6], 7, 3, 2, 9, 2, 2));
}

TEST_CASE("the check-free form has no checks, the other has them") {
    const auto program = program_of(kCases[0]);
    for (const char* format : {WYE_FORMAT_OPENCL_C, WYE_FORMAT_CUDA_C}) {
        wye::lower::Options options;
        const auto with = wye::lower::lower(program, format, {}, options);
        options.check_free = true;
        const auto without = wye::lower::lower(program, format, {}, options);
        REQUIRE(with.ok());
        REQUIRE(without.ok());
        CHECK(with->text().find("l0") != std::string_view::npos);  // the length of `a`
        CHECK(without->text().find("l0") == std::string_view::npos);
        CHECK(without->slots.size() < with->slots.size());
    }
    const auto conditions = wye::lower::preconditions(program, program.workgroup);
    CHECK(conditions.text(program).find("< len(a)") != std::string::npos);
}

TEST_CASE("without a bound there is no precondition") {
    for (const char* body : {"r[0u] = a[a[x]];", "r[a[x] + w] = 1u;",
                             "var v = w; while v != s { v = "
                             "v * 3u; } r[0u] = a[v];"}) {
        const auto program = program_of({"", body, {}});
        const auto text = wye::lower::preconditions(program, program.workgroup).text(program);
        CHECK_MESSAGE(text.find("any") == std::string::npos, text);
    }
}

}  // namespace test_preconditions
