// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "planned.hpp"

namespace wye::plan::test {
namespace {

constexpr std::string_view kFree = R"(wye 1; program p; workgroup 4, 2; output r: u32[8];
    main { r[local_index] = 1u; })";

TEST_CASE("the grid comes from the request, else its elements, else the program, else nowhere") {
    const Planned with_clause = planned(R"(wye 1; program p; workgroup 4, 2; param n: u32;
        output r: u32[8]; grid elements n, 3; main { r[local_index] = 1u; })");
    const auto base = [] { return Ask().param(9).out(0, 32); };
    CHECK(admitted(with_clause, base())->groups == Count3{3, 2, 1});
    CHECK(admitted(with_clause, base().elements(17))->groups == Count3{5, 1, 1});
    CHECK(admitted(with_clause, base().elements(17).grid(7, 8, 9))->groups == Count3{7, 8, 9});

    const Planned groups = planned(R"(wye 1; program p; workgroup 4; param n: u32;
        output r: u32[8]; grid groups n + 1, 2, n; main { r[local_index] = 1u; })");
    CHECK(admitted(groups, base())->groups == Count3{10, 2, 9});

    refused(planned(kFree), Ask().out(0, 32), Code::INVALID_ARGUMENT, "the number of workgroups");
}

TEST_CASE("launch limits") {
    const Planned p = planned(kFree);
    const auto base = [] { return Ask().out(0, 32); };
    CHECK(admitted(p, base().grid(1073741823))->groups[0] == 1073741823);  // 2^32 - 4 invocations
    refused(p, base().grid(1073741824), Code::LIMIT_EXCEEDED, "axis x");
    refused(p, base().grid(1, 2147483648U), Code::LIMIT_EXCEEDED, "axis y");
    refused(p, base().grid(65536, 65536), Code::LIMIT_EXCEEDED, "65536x65536x1 workgroups");
    CHECK(admitted(p, base().grid(65535, 65537))->groups[1] == 65537);  // 2^32 - 1 in all
    refused(p, base().elements(UINT64_MAX), Code::LIMIT_EXCEEDED, "axis x");
}

TEST_CASE("a zero count runs nothing and is no error") {
    const Planned p = planned(kFree);
    for (const Count3& grid : {Count3{0, 1, 1}, Count3{5, 0, 7}, Count3{65536, 65536, 0}}) {
        const auto launch = admitted(p, Ask().out(0, 32).grid(grid[0], grid[1], grid[2]));
        CHECK(launch->empty);
        CHECK(launch->buffers[0].zero);  // the output still starts at zero, and is delivered
    }
    CHECK(admitted(p, Ask().out(0, 32).elements(0))->empty);
}

TEST_CASE("a grid in a buffer is not known: zeros are filled, and nothing else is assumed") {
    const Planned saxpy = planned(kSaxpy);
    const auto base = [] { return Ask().param(0).in(0, 4000).in(1, 4000).out(2, 4000); };
    CHECK_FALSE(admitted(saxpy, base())->buffers[2].zero);
    const auto launch = admitted(saxpy, base().indirect(64, 52));
    CHECK(launch->indirect);
    CHECK(launch->grid_offset == 52);
    CHECK(launch->groups == Count3{0, 0, 0});
    CHECK_FALSE(launch->empty);
    CHECK(launch->buffers[2].zero);
    CHECK_FALSE(launch->deterministic);  // there may be two invocations with one global_id.x
    CHECK(launch->most_groups() == Count3{16777215, UINT32_MAX, UINT32_MAX});
    CHECK_FALSE(admitted(saxpy, base())->indirect);

    const Planned pure = planned(R"(wye 1; program p; workgroup 4; input x: u32[];
        main { let v = x[global_id.x]; })");
    CHECK(admitted(pure, Ask().in(0, 40).indirect())->deterministic);
    const Planned loop = planned(R"(wye 1; program p; workgroup 1; output r: u32[8];
        main { for i in 0u..8u { r[i] = 1u; } })");
    CHECK(admitted(loop, Ask().out(0, 32).indirect())->buffers[0].zero);

    // Lengths follow from `elements` and storage, as with a known grid.
    const Planned sized = planned(R"(wye 1; program p; workgroup 4; output r: u32[];
        main { r[global_id.x] = 1u; })");
    CHECK(admitted(sized, Ask().discard(0).elements(7).indirect())->buffers[0].elements == 7);
    refused(sized, Ask().discard(0).indirect(), Code::INVALID_ARGUMENT, "element count");
}

TEST_CASE("a grid in a buffer is whole, aligned, the only one, and not for all launches") {
    const Planned p = planned(kFree);
    const auto base = [] { return Ask().out(0, 32); };
    admitted(p, base().indirect(12, 0));
    refused(p, base().indirect(11, 0), Code::INVALID_ARGUMENT,
            "12 bytes at offset 0 of a buffer of 11");
    refused(p, base().indirect(64, 56), Code::INVALID_ARGUMENT, "12 bytes at offset 56");
    refused(p, base().indirect(64, UINT64_MAX - 3), Code::INVALID_ARGUMENT,
            "of a buffer of 64 bytes");
    refused(p, base().indirect(64, 6), Code::INVALID_ARGUMENT, "not a multiple of 4");
    refused(p, base().indirect().grid(1, 2, 3), Code::INVALID_ARGUMENT, "a grid of 1x2x3");
    const auto with = [&](auto change) {
        Ask changed = base();
        change(changed.request);
        return changed;
    };
    refused(p, with([](Request& r) { r.grid_buffer = 5; }), Code::INVALID_ARGUMENT,
            "without WYE_DISPATCH_INDIRECT");
    refused(p, with([](Request& r) { r.grid_offset = 4; }), Code::INVALID_ARGUMENT,
            "without WYE_DISPATCH_INDIRECT");
    Ask at_once = base().indirect();
    at_once.request.cooperative = true;
    refused(p, at_once, Code::UNSUPPORTED, "a cooperative launch of `p`");
    const Planned phased = planned(R"(wye 1; program p; workgroup 4; output r: u32[8];
        main { r[0] = 1u; grid_barrier; r[1] = 2u; })");
    refused(phased, base().indirect(), Code::UNSUPPORTED, "program `p` has grid barriers");
}

TEST_CASE("the zero fill is left out only when the launch stores every element") {
    const Planned saxpy = planned(kSaxpy);
    const auto full = admitted(saxpy, Ask().param(0).in(0, 4000).in(1, 4000).out(2, 4000));
    CHECK(!full->buffers[2].zero);
    const auto part = admitted(saxpy, Ask().param(0).in(0, 4000).in(1, 4000).out(2, 4000).grid(3));
    CHECK(part->buffers[2].zero);

    const Planned guarded = planned(R"(wye 1; program p; workgroup 4; input x: u32[];
        output r: u32[]; grid elements len(r);
        main { let i = global_id.x; if i < len(x) { r[i] = x[i]; } })");
    CHECK(!admitted(guarded, Ask().in(0, 40).out(1, 40))->buffers[1].zero);
    CHECK(!admitted(guarded, Ask().in(0, 44).out(1, 40))->buffers[1].zero);
    CHECK(admitted(guarded, Ask().in(0, 36).out(1, 40))->buffers[1].zero);

    const Planned scattered = planned(R"(wye 1; program p; workgroup 4; input x: u32[];
        output r: u32[len(x)]; grid elements len(x);
        main { let i = global_id.x; if i < len(x) { r[x[i]] = i; } })");
    CHECK(admitted(scattered, Ask().in(0, 40).out(1, 40))->buffers[1].zero);

    const Planned unset = planned(R"(wye 1; program p; workgroup 4; input x: u32[];
        output r: u32[len(x)] unset; grid elements len(x);
        main { let i = global_id.x; if i < len(x) { r[x[i]] = i; } })");
    CHECK(!admitted(unset, Ask().in(0, 40).out(1, 40))->buffers[1].zero);
}

TEST_CASE("rows and columns: the zero fill is left out only when each element has its invocation") {
    // Column and row as in global_id, and exchanged as in a transposition.
    for (const char* body : {"let x = global_id.x; let y = global_id.y;",
                             "let x = workgroup_id.y * 4u + local_id.x; let y = workgroup_id.x * "
                             "2u + local_id.y;"}) {
        const bool turned = std::string_view(body).find("workgroup_id.y") != std::string_view::npos;
        const Planned p =
            planned(std::string("wye 1; program p; workgroup 4, 2; param pitch: u32; param w: u32; "
                                "param h: u32; output r: u32[]; main { ") +
                    body + " if x < w && y < h { r[y * pitch + x] = 1u; } }");
        const auto zero = [&](unsigned pitch, unsigned w, unsigned h, unsigned count, unsigned gx,
                              unsigned gy) {
            if (turned) std::swap(gx, gy);
            return admitted(p,
                            Ask().param(pitch).param(w).param(h).out(0, count * 4ULL).grid(gx, gy))
                ->buffers[0]
                .zero;
        };
        // Whether a launch stores every element, checked one by one.
        const auto stores = [](unsigned pitch, unsigned w, unsigned h, unsigned count, unsigned gx,
                               unsigned gy) {
            std::vector<bool> stored(count);
            for (unsigned y = 0; y < gy * 2 && y < h; ++y)
                for (unsigned x = 0; x < gx * 4 && x < w; ++x)
                    if (y * pitch + x < count) stored[y * pitch + x] = true;
            return std::ranges::count(stored, false) == 0;
        };
        unsigned left_out = 0;
        for (unsigned n = 0; n < 4096; ++n) {
            const unsigned pitch = n % 4 * 3, w = n / 4 % 4 * 3, h = n / 16 % 4 * 2,
                           count = n / 64 % 4 * 9 + 3, gx = n / 256 % 4 + 1, gy = n / 1024 % 4 + 1;
            if (zero(pitch, w, h, count, gx, gy)) continue;
            ++left_out;
            CHECK(stores(pitch, w, h, count, gx, gy));
        }
        CHECK(left_out > 50);
        CHECK(!zero(6, 6, 4, 24, 2, 2));
        CHECK(zero(6, 5, 4, 24, 2, 2));
        CHECK(zero(6, 6, 3, 24, 2, 2));
        CHECK(zero(6, 6, 4, 24, 1, 2));
    }
}

TEST_CASE("a loop that stores a row: the zero fill is left out only when all rows are whole") {
    for (const unsigned rounds : {0U, 3U, 4U, 6U}) {
        const Planned p = planned(
            "wye 1; program p; workgroup 2; param pitch: u32; param n: u32; "
            "output r: u32[]; main { let i = global_id.x; "
            "if i < len(r) / 3u && i < n / 2u { for k in 0u.." +
            std::to_string(rounds) + "u { r[i * pitch + k] = 1u; } } }");
        unsigned left_out = 0;
        for (unsigned c = 0; c < 6 * 14 * 16 * 5; ++c) {
            const unsigned pitch = c % 6, n = c / 6 % 14, count = c / 84 % 16 + 1,
                           groups = c / 1344 + 1;
            const auto launch =
                admitted(p, Ask().param(pitch).param(n).out(0, count * 4ULL).grid(groups));
            if (launch->buffers[0].zero) continue;
            ++left_out;
            std::vector<bool> stored(count);
            for (unsigned i = 0; i < groups * 2 && i < count / 3 && i < n / 2; ++i)
                for (unsigned k = 0; k < rounds; ++k)
                    if (i * pitch + k < count) stored[i * pitch + k] = true;
            CHECK(std::ranges::count(stored, false) == 0);
        }
        CHECK((left_out > 50) == (rounds >= 3));
    }
}

TEST_CASE("a workgroup of another size than the text has leaves the zero fill") {
    const Planned p = planned(R"(wye 1; program p; workgroup 4 adjustable; output r: u32[8];
        main { r[workgroup_id.x * 4u + local_id.x] = 1u; })");
    CHECK(!admitted(p, Ask().out(0, 32).grid(2))->buffers[0].zero);
    Ask other = Ask().out(0, 32).grid(2);
    other.request.workgroup = {5, 1, 1};
    CHECK(admitted(p, other)->buffers[0].zero);
}

TEST_CASE("bindings may overlap only where the program can write neither") {
    const Planned saxpy = planned(kSaxpy);
    const auto base = [] { return Ask().param(0); };
    const std::uint64_t handle = 77;
    // Two buffers that are only read may overlap, even completely.
    admitted(saxpy,
             base().resident(0, handle, 80, 0, 40).resident(1, handle, 80, 0, 40).out(2, 40));
    admitted(saxpy,
             base().resident(0, handle, 80, 0, 40).resident(1, handle, 80, 20, 40).out(2, 40));
    // If one of them is written, the ranges may be apart or touch, but not share a byte.
    admitted(saxpy,
             base().in(0, 40).resident(1, handle, 80, 0, 40).resident(2, handle, 80, 40, 40));
    refused(saxpy, base().in(0, 40).resident(1, handle, 80, 0, 40).resident(2, handle, 80, 36, 40),
            Code::INVALID_ARGUMENT, "`y` (binding 1) and `r` (binding 2) are bound to overlapping");
    // Ranges of different buffers never overlap, and neither do empty ranges.
    admitted(saxpy, base().in(0, 40).resident(1, handle, 40).resident(2, handle + 1, 40));
    admitted(saxpy, base().in(0, 0).in(1, 0).resident(2, handle, 0));

    const Planned two = planned(R"(wye 1; program p; workgroup 4; output a: u32[4];
        output b: u32[4]; grid groups 1; main { a[local_index] = 1u; b[local_index] = 2u; })");
    Ask storage = Ask().out(0, 16).out(1, 16);
    storage.arguments[1].output = Ask::memory(0) + 12;
    refused(two, storage, Code::INVALID_ARGUMENT, "overlapping");
    storage.arguments[1].output = Ask::memory(0) + 16;
    admitted(two, storage);
}

}  // namespace
}  // namespace wye::plan::test
