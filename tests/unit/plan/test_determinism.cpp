// SPDX-License-Identifier: Apache-2.0
//
// The verdict "deterministic" of launches, compared with all indices of their invocations. The
// verdict may be true only if no two invocations have the same index.
#include <functional>
#include <unordered_set>

#include "planned.hpp"

namespace wye::plan::test {
namespace {

constexpr std::uint32_t kPitch = 1U << 20U;

struct Shape {
    Count3 grid;
    Count3 workgroup = {64, 1, 1};
    std::uint32_t n = 0;  // the parameter
    bool verdict = false;
};

struct Case {
    const char* head;
    const char* body;
    // The index at which the invocation stores; negative: none.
    std::function<std::int64_t(const Count3& id, std::uint32_t n)> index;
    std::vector<Shape> launches;
};

bool indices_differ(const Case& one, const Shape& shape) {
    std::unordered_set<std::int64_t> seen;
    Count3 id;
    for (id[2] = 0; id[2] < shape.grid[2] * shape.workgroup[2]; ++id[2])
        for (id[1] = 0; id[1] < shape.grid[1] * shape.workgroup[1]; ++id[1])
            for (id[0] = 0; id[0] < shape.grid[0] * shape.workgroup[0]; ++id[0])
                if (const std::int64_t index = one.index(id, shape.n);
                    index >= 0 && !seen.insert(index).second)
                    return false;
    return true;
}

TEST_CASE("a launch is deterministic only if no two of its invocations meet") {
    const auto strided = [](const Count3& id, std::uint32_t) {
        return std::int64_t{id[0] * 524288U + 3U};  // wraps around
    };
    const auto row_of = [](const Count3& id, std::uint32_t pitch) -> std::int64_t {
        return id[0] < pitch ? std::int64_t{id[1] * pitch + id[0]} : -1;
    };
    const std::vector<Case> cases = {
        {"workgroup 64;",
         "a[global_id.x] = n;",
         [](const Count3& id, std::uint32_t) { return std::int64_t{id[0]}; },
         {{.grid = {300, 1, 1}, .verdict = true},
          {.grid = {1, 64, 1}},
          {.grid = {2, 1, 2}},
          {.grid = {0, 7, 7}}}},  // nothing runs, but the rule asks for y = z = 1
        {"workgroup 64 adjustable;",
         "a[global_id.x] = n;",
         [](const Count3& id, std::uint32_t) { return std::int64_t{id[0]}; },
         {{.grid = {3, 1, 1}, .verdict = true},
          {.grid = {3, 1, 1}, .workgroup = {32, 1, 1}, .verdict = true},
          {.grid = {3, 1, 1}, .workgroup = {8, 8, 1}}}},
        {"workgroup 64;",
         "a[global_id.x * 524288u + 3u] = n;",
         strided,
         {{.grid = {128, 1, 1}, .verdict = true}, {.grid = {129, 1, 1}}, {.grid = {1, 2, 1}}}},
        {"workgroup 64;",
         "if global_id.x < n { a[global_id.y * n + global_id.x] = 1u; }",
         row_of,
         {{.grid = {1, 4096, 1}, .n = kPitch, .verdict = true},
          {.grid = {1, 4097, 1}, .n = kPitch},
          {.grid = {1, 4096, 1}, .n = kPitch + 1},
          {.grid = {1, 4096, 1}, .n = 0, .verdict = true},
          {.grid = {4, 3, 1}, .n = 100, .verdict = true},
          {.grid = {4, 3, 2}, .n = 100},
          {.grid = {1, 1, 1}, .n = UINT32_MAX, .verdict = true}}},
        {"workgroup 64;",
         "if global_id.x < 1048576u { a[global_id.y * 1048576u + global_id.x] = n; }",
         [&](const Count3& id, std::uint32_t) { return row_of(id, kPitch); },
         {{.grid = {1, 4096, 1}, .verdict = true}, {.grid = {1, 4097, 1}}}},
        // x has 64 elements.
        {"workgroup 64;",
         "if global_id.x < len(x) { a[global_id.y * len(x) + global_id.x] = n; }",
         [&](const Count3& id, std::uint32_t) { return row_of(id, 64); },
         {{.grid = {2, 1000, 1}, .verdict = true}, {.grid = {2, 2, 2}}}},
        // In every launch, all invocations store to one element.
        {"workgroup 64;",
         "a[0] = n;",
         [](const Count3&, std::uint32_t) { return 0; },
         {{.grid = {1, 1, 1}}}},
    };
    for (const Case& one : cases) {
        const std::string body = one.body;
        CAPTURE(body);
        const Planned program = planned(std::string("wye 1; program p; ") + one.head +
                                        " param n: u32; input x: u32[]; input_output a: u32[]; "
                                        "main { " +
                                        body + " }");
        for (const Shape& shape : one.launches) {
            CAPTURE(shape.grid[0]);
            CAPTURE(shape.grid[1]);
            CAPTURE(shape.grid[2]);
            CAPTURE(shape.n);
            Ask ask = Ask().param(shape.n).in(0, 256).inout(1, 256).grid(
                shape.grid[0], shape.grid[1], shape.grid[2]);
            if (shape.workgroup != Count3{64, 1, 1}) ask.request.workgroup = shape.workgroup;
            const auto launch = admitted(program, ask);
            CHECK(launch->deterministic == shape.verdict);
            if (launch->deterministic) CHECK(indices_differ(one, shape));
        }
    }
}

TEST_CASE("a length decides a verdict as a parameter does") {
    const Planned program = planned(R"(wye 1; program p; workgroup 1;
input x: u8[]; input_output a: u32[];
main { if global_id.x < len(x) { a[global_id.y * len(x) + global_id.x] = 1u; } })");
    const auto verdict = [&](std::uint64_t length, std::uint32_t rows) {
        return admitted(program, Ask().in(0, length).inout(1, 4).grid(1, rows))->deterministic;
    };
    CHECK(verdict(65536, 65536));
    CHECK_FALSE(verdict(65537, 65536));  // row 65535 reaches 2^32, which is index 0
    CHECK_FALSE(verdict(65536, 65537));
}

}  // namespace
}  // namespace wye::plan::test
