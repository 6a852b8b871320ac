// SPDX-License-Identifier: Apache-2.0
//
// Edges of memory: ranges, small elements, packed vectors and NaN in stores, all of them with
// contiguous and with scattered accesses.
#include <doctest/doctest.h>

#include <limits>

#include "rig.hpp"

namespace {

using U32s = std::vector<std::uint32_t>;

U32s counted(std::size_t count) {
    U32s values(count);
    for (std::size_t n = 0; n < count; ++n) values[n] = std::uint32_t(1000 + n);
    return values;
}

}  // namespace

TEST_CASE("loads out of range give zero, stores out of range are dropped, for every index type") {
    struct Index {
        const char* text;  // an expression of `i`, a u32 from 0 to 199
        std::int64_t first;
    };
    // The buffer has 100 elements. Each index counts up from `first`.
    const Index indices[] = {
        {"i", 0},
        {"i + 90u", 90},
        {"i - 50u", std::int64_t{0xffffffff} - 49},  // wraps to 0 at lane 50
        {"i32(i) - 50", -50},
        {"u64(i) + 18446744073709551566u64", -50},  // wraps as well
        {"i64(i) - 50i64", -50},
        {"i64(i) - 9223372036854775807i64", -std::numeric_limits<std::int64_t>::max()},
        {"u64(i) + 4294967286u64", 4294967286},
        {"i32(i) + 2147483600", 2147483600},  // wraps to the smallest
    };
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        for (const Index& index : indices) {
            for (const bool through_memory : {false, true}) {  // affine, and from memory
                const std::string id = through_memory ? "ids[global_id.x]" : "global_id.x";
                test::Loaded program(
                    rig,
                    "wye 1; program edge; workgroup 64; input ids: u32[]; input a: u32[]; "
                    "output r: u32[len(ids)]; output w: u32[len(a)]; grid elements len(ids); "
                    "main { let i = " +
                        id + "; r[global_id.x] = a[" + index.text +
                        "]; if global_id.x < 200u { w[" + index.text + "] = i + 7u; } }");
                U32s ids(200);
                for (std::uint32_t n = 0; n < 200; ++n) ids[n] = n;
                const U32s a = counted(100);
                const auto result = program.run({}, {test::bytes_of(ids), test::bytes_of(a),
                                                     test::Bytes(800), test::Bytes(400)});
                REQUIRE(result.failure.message == "");
                U32s loaded(200);
                U32s written(100);
                const bool is_u32 =
                    index.text[0] == 'i' && index.text[1] != '3' && index.text[1] != '6';
                for (std::uint32_t n = 0; n < 200; ++n) {
                    std::int64_t at = index.first + n;
                    if (is_u32) at = std::int64_t(std::uint32_t(at));
                    if (at < 0 || at >= 100) continue;
                    loaded[n] = a[std::size_t(at)];
                    written[std::size_t(at)] = n + 7;
                }
                CAPTURE(isa);
                CAPTURE(index.text);
                CAPTURE(through_memory);
                CHECK(test::values_of<std::uint32_t>(result.buffers[2]) == loaded);
                CHECK(test::values_of<std::uint32_t>(result.buffers[3]) == written);
            }
        }
    }
}

TEST_CASE("vectors are packed, three wide too") {
    test::Rig rig;
    test::Loaded program(
        rig,
        "wye 1; program packed; workgroup 64; input a: f32x3[]; output r: "
        "f32x3[len(a)]; output s: u8x3[len(a)]; grid elements len(a); main { let "
        "i = global_id.x; let v = a[len(a) - 1u - i]; r[i] = f32x3(v.z, v.x, v.y); "
        "s[i] = u32x3(v); }");
    std::vector<float> a(3 * 77);
    for (std::size_t n = 0; n < a.size(); ++n) a[n] = float(n);
    const auto result =
        program.run({}, {test::bytes_of(a), test::Bytes(a.size() * 4), test::Bytes(a.size())});
    const auto r = test::values_of<float>(result.buffers[1]);
    const auto s = test::values_of<std::uint8_t>(result.buffers[2]);
    bool same = true;
    for (std::size_t n = 0; n < 77; ++n) {
        const float* v = &a[3 * (76 - n)];
        same = same && r[3 * n] == v[2] && r[3 * n + 1] == v[0] && r[3 * n + 2] == v[1];
        for (std::size_t k = 0; k < 3; ++k) same = same && s[3 * n + k] == std::uint8_t(v[k]);
    }
    CHECK(same);
}

TEST_CASE("a stored NaN is the canonical one, and u32 copies keep its bits") {
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        test::Loaded program(
            rig,
            "wye 1; program nans; workgroup 64; input a: f32[]; input b: f64[len(a)]; input "
            "c: u32[len(a)]; output r: f32[len(a)]; output s: f64[len(a)]; output t: "
            "u32[len(a)]; grid elements len(a); main { let i = global_id.x; r[i] = a[i]; s[i] "
            "= b[i]; t[i] = c[i]; }");
        const U32s a = {0x7fa00001U, 0xffc00123U, 0x7f800000U, 0x00000001U, 0x80000000U};
        const std::vector<std::uint64_t> b = {0x7ff4000000000001U, 0xfff8000000000001U,
                                              0xfff0000000000000U, 1, 0x8000000000000000U};
        const auto result =
            program.run({}, {test::bytes_of(a), test::bytes_of(b), test::bytes_of(a),
                             test::Bytes(20), test::Bytes(40), test::Bytes(20)});
        CHECK(test::values_of<std::uint32_t>(result.buffers[3]) ==
              U32s{0x7fc00000U, 0x7fc00000U, 0x7f800000U, 1, 0x80000000U});
        CHECK(test::values_of<std::uint64_t>(result.buffers[4]) ==
              std::vector<std::uint64_t>{0x7ff8000000000000U, 0x7ff8000000000000U,
                                         0xfff0000000000000U, 1, 0x8000000000000000U});
        CHECK(test::values_of<std::uint32_t>(result.buffers[5]) == a);
    }
}

TEST_CASE("empty buffers can be read from and written to") {
    test::Rig rig;
    test::Loaded program(rig,
                         "wye 1; program empty; workgroup 64; input a: u32x4[]; output w: u64[]; "
                         "output r: u32[]; main { let i = global_id.x; let v = a[i]; w[i] = 5u64; "
                         "r[i] = v.w + len(a) + u32(len64(w)) + 3u; }");
    const auto result = program.run({}, {{}, {}, test::Bytes(40)}, {{1, 1, 1}});
    REQUIRE(result.failure.message == "");
    CHECK(test::values_of<std::uint32_t>(result.buffers[2]) == U32s(10, 3));
}

TEST_CASE("local arrays and tables have edges as buffers do") {
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        test::Loaded program(
            rig,
            "wye 1; program locals; workgroup 64; output r: u32[]; output s: u32[]; table t: "
            "u32[4] = { 5u, 6u, 7u, 8u }; grid elements len(r); main { let i = global_id.x; "
            "var a: u32[5]; a[i % 7u] = i + 1u; a[4u] = a[i % 7u] + a[9u] + a[2u]; a[5u] = "
            "99u; r[i] = a[0u] + a[4u] * 1000u; s[i] = t[i % 6u] + t[3u] * 10u + t[4u]; }");
        const auto result = program.run({}, {test::Bytes(1600), test::Bytes(1600)});
        REQUIRE(result.failure.message == "");
        U32s r(400);
        U32s s(400);
        const std::uint32_t t[] = {5, 6, 7, 8, 0, 0};
        for (std::uint32_t i = 0; i < 400; ++i) {
            std::uint32_t a[7] = {};
            if (i % 7 < 5) a[i % 7] = i + 1;
            a[4] = (i % 7 < 5 ? a[i % 7] : 0) + a[2];
            r[i] = a[0] + a[4] * 1000;
            s[i] = t[i % 6] + 80;
        }
        CAPTURE(isa);
        CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == r);
        CHECK(test::values_of<std::uint32_t>(result.buffers[1]) == s);
    }
}

TEST_CASE("atomics count exactly, whatever the threads do") {
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa, 4);
        test::Loaded program(
            rig,
            "wye 1; program counting; workgroup 64; input_output c: u32[4]; input_output d: "
            "i64[4]; output tickets: u32[]; main { let i = global_id.x; tickets[i] = "
            "atomic_add(c[0u], 1u); atomic_max(d[0u], i64(i)); atomic_min(d[1u], -i64(i)); "
            "atomic_add(d[2u], i64(i) - 3i64); atomic_or(c[1u], 1u << (i % 32u)); "
            "atomic_and(c[2u], ~(1u << (i % 5u))); atomic_xor(c[3u], i); atomic_add(c[4u], 1u); "
            "let before = atomic_load(d[3u]); atomic_cas(d[3u], before, before + 1i64); }");
        constexpr std::uint32_t count = 64 * 4096;
        const U32s c = {0, 0, 0xffffffffU, 0};
        const auto result = program.run(
            {}, {test::bytes_of(c), test::Bytes(32), test::Bytes(count * 4)}, {{count / 64, 1, 1}});
        REQUIRE(result.failure.message == "");
        std::uint32_t all = 0;
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            all ^= i;
            sum += std::int64_t{i} - 3;
        }
        CHECK(test::values_of<std::uint32_t>(result.buffers[0]) ==
              U32s{count, 0xffffffffU, 0xffffffe0U, all});
        const auto d = test::values_of<std::int64_t>(result.buffers[1]);
        CHECK(d[0] == count - 1);
        CHECK(d[1] == -std::int64_t{count} + 1);
        CHECK(d[2] == sum);
        CHECK(d[3] >= 1);
        CHECK(d[3] <= count);
        std::vector<bool> seen(count);
        bool distinct = true;
        for (const std::uint32_t ticket : test::values_of<std::uint32_t>(result.buffers[2])) {
            distinct = distinct && ticket < count && !seen[ticket];
            if (ticket < count) seen[ticket] = true;
        }
        CHECK(distinct);
    }
}
