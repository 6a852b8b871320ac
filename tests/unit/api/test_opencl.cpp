// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL plugin through the public API, together with the CPU: needs a driver (PoCL will do),
// and fails without one. The path of the plugin's folder is built in.
#include <doctest/doctest.h>

#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "take.hpp"
#include "wye/wye.hpp"

namespace {

using api_test::take;

wye::Context context() {
    return take(wye::Context::create(
        {.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT, .plugin_paths = {WYE_OPENCL_FOLDER}}));
}

constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64; param rounds: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { var v = x[i];
for k in 0u..rounds { v ^= v << 13u; v ^= v >> 17u; v ^= v << 5u; } r[i] = v; } })";

// PoCL keeps the compiled code of a kernel once for all contexts of a process, and adds code for
// each grid that is wider than the grids before.
TEST_CASE("contexts run one program at once, one of them on ever wider grids") {
    // Returns the number of runs with the right result. `wider`: each run has one workgroup more
    // than the run before.
    const auto work = [](std::uint32_t runs, std::uint32_t rounds, bool wider) {
        const auto ctx = context();
        const auto gpu = take(ctx.open("opencl:0"));
        const auto program = take(ctx.program_from_text(kMix));
        const std::vector<std::uint32_t> x(std::size_t{64} * runs, 1);
        std::vector<std::uint32_t> r(x.size());
        std::uint32_t expected = 1;
        for (std::uint32_t k = 0; k < rounds; ++k) {
            expected ^= expected << 13U;
            expected ^= expected >> 17U;
            expected ^= expected << 5U;
        }
        std::uint32_t right = 0;
        for (std::uint32_t run = 0; run < runs; ++run) {
            const std::size_t count = wider ? std::size_t{64} * (run + 1) : 64;
            const auto now = std::span(r).first(count);
            wye::Dispatch dispatch(program, gpu);
            take(dispatch.param("rounds", rounds)
                     .input("x", std::span(x).first(count))
                     .output("r", now)
                     .run());
            if (std::ranges::count(now, expected) == std::ssize(now)) ++right;
        }
        return right;
    };
    std::vector<std::future<std::uint32_t>> others;
    for (int k = 0; k < 3; ++k)
        others.push_back(std::async(std::launch::async, work, 50U, 100'000U, false));
    CHECK(work(200, 10, true) == 200);
    for (auto& other : others) CHECK(other.get() == 50);
}

// PoCL links each kernel that it compiles as a library in its cache, and loads that library.
TEST_CASE("a verdict depends on the driver's libraries, not on the kernels that it compiled") {
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "wye_api_XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    {
        const auto ctx = take(
            wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                  .plugin_paths = {WYE_OPENCL_FOLDER},
                                  .config = {{"cache_folder", folder}, {"probe.mode", "child"}}}));
        (void)take(ctx.open("opencl:0"));
    }
    std::size_t verdicts = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (!entry.path().filename().string().starts_with("plugin-probe-")) continue;
        ++verdicts;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        CHECK(text.find("libOpenCL.so") != std::string::npos);
        const char* const cache = std::getenv("POCL_CACHE_DIR");
        CHECK(text.find(cache != nullptr ? cache : "/kcache/") == std::string::npos);
    }
    CHECK(verdicts == 1);
    fs::remove_all(folder);
}

// ---- A device that takes subnormal f32 for zero ------------------------------------------------

wye::Context flushing() {
    return take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                      .plugin_paths = {WYE_OPENCL_FOLDER},
                                      .config = {{"opencl.library", WYE_FLUSHING_OPENCL}}}));
}

// Subnormals of both signs, zeros, ordinary numbers and infinities.
std::vector<std::uint32_t> bits_with_subnormals() {
    std::vector<std::uint32_t> out = {0,           0x80000000U, 1,
                                      0x80000001U, 0x007fffff,  0x807fffffU,
                                      0x00800000U, 0x7f800000U, 0xff800000U};
    while (out.size() < 64) {
        const auto n = static_cast<std::uint32_t>(out.size());
        out.push_back(n << 31U | ((out[n % 7] ^ n * 0x12345U) & 0x00ffffffU));
    }
    return out;
}

TEST_CASE("programs that move floats have the same bytes where the device flushes subnormals") {
    const auto ctx = flushing();
    const auto device = take(ctx.open("opencl:0"));
    const auto program = take(ctx.program_from_text(R"(wye 1; program moves; workgroup 64;
input x: f32[64]; input h: f16[64]; input g: bf16[64];
output r: f32[512]; output rh: f16[64]; output rg: bf16[64]; shared t: f32[64]; grid groups 1;
table small: f32[2] = { 1e-40, -3e-39 };
main {
    let i = local_index;
    t[i] = x[63u - i];
    var own: f32[2];
    own[i & 1u] = x[i];
    barrier;
    r[i] = x[i];
    r[64u + i] = t[i];
    r[128u + i] = -x[i];
    r[192u + i] = abs(x[i]);
    r[256u + i] = copysign(x[i], t[i]);
    r[320u + i] = select(isinf(x[i]) || isnan(x[i]), 2e-39, x[i]);
    r[384u + i] = select(i < 32u, own[i & 1u], small[i & 1u]);
    r[448u + i] = bitcast<f32>(bitcast<u32>(x[i]) & 0x807fffffu);
    rh[i] = -h[i];
    rg[i] = g[63u - i];
})"));
    const auto x = bits_with_subnormals();
    std::vector<std::uint16_t> h, g;
    for (std::uint16_t k = 0; k < 64; ++k) {
        h.push_back(static_cast<std::uint16_t>(k % 2 << 15U | k * 33U));  // some are subnormal
        g.push_back(static_cast<std::uint16_t>(k % 2 << 15U | k * 3U));
    }
    std::vector<std::uint32_t> r(512);
    std::vector<std::uint16_t> rh(64), rg(64);
    const auto as_bytes = [](const auto& v) { return std::as_bytes(std::span(v)); };
    const auto writable = [](auto& v) { return std::as_writable_bytes(std::span(v)); };
    take(wye::Dispatch(program, device)
             .input("x", as_bytes(x))
             .input("h", as_bytes(h))
             .input("g", as_bytes(g))
             .output("r", writable(r))
             .output("rh", writable(rh))
             .output("rg", writable(rg))
             .run());
    constexpr std::uint32_t kSign = 0x80000000U;
    const std::uint32_t small[2] = {std::bit_cast<std::uint32_t>(1e-40F),
                                    std::bit_cast<std::uint32_t>(-3e-39F)};
    for (std::uint32_t i = 0; i < 64; ++i) {
        CAPTURE(i);
        const bool infinite = (x[i] & ~kSign) == 0x7f800000U;
        CHECK(r[i] == x[i]);
        CHECK(r[64 + i] == x[63 - i]);
        CHECK(r[128 + i] == (x[i] ^ kSign));
        CHECK(r[192 + i] == (x[i] & ~kSign));
        CHECK(r[256 + i] == ((x[i] & ~kSign) | (x[63 - i] & kSign)));
        CHECK(r[320 + i] == (infinite ? std::bit_cast<std::uint32_t>(2e-39F) : x[i]));
        CHECK(r[384 + i] == (i < 32 ? x[i] : small[i & 1U]));
        CHECK(r[448 + i] == (x[i] & 0x807fffffU));
        CHECK(rh[i] == (h[i] ^ 0x8000U));
        CHECK(rg[i] == g[63 - i]);
    }
}

TEST_CASE("programs in which flushed subnormals can be seen are refused, with the operation") {
    const auto ctx = flushing();
    const auto device = take(ctx.open("opencl:0"));
    const std::vector<float> x(64, 1e-40F);
    std::vector<float> r(64);
    const auto run = [&](const std::string& value, bool variants = false) {
        const std::string text =
            "wye 1; program p; workgroup 64; input x: f32[64]; output r: f32[64]; "
            "grid groups 1;\n"
            "variant \"opencl-c\" entry \"k\" text \"\"\"\n"
            "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
            "void k(__global const float* x, __global float* r, ulong n, ulong m) "
            "{ r[get_global_id(0)] = (x[get_global_id(0)] * 2.0f) * 0.5f; }\n"
            "\"\"\";\n"
            "main { let i = local_index; r[i] = " +
            value + "; }\n";
        const auto program = take(ctx.program_from_text(text));
        wye::Dispatch dispatch(program, device);
        dispatch.input("x", x).output("r", r);
        if (variants) dispatch.variants();
        const auto done = dispatch.run();
        return done.ok() ? std::string() : done.error().message;
    };
    CHECK(run("x[63u - i]").empty());
    CHECK(r == x);
    // The device does take subnormals for zero, as the native variant shows.
    CHECK(run("x[63u - i]", true).empty());
    CHECK(r == std::vector<float>(64));
    for (const auto& [value, operation] :
         std::initializer_list<std::pair<const char*, const char*>>{
             {"x[i] * 2.0", "`*` of f32 at 6:"},
             {"select(x[i] > 0.0, 1.0, 2.0)", "`>` of f32 at 6:"},
             {"max(x[i], x[0])", "`max` of f32 at 6:"},
             {"f32(u32(x[i]))", "a conversion of f32 at 6:"}}) {
        const std::string said = run(value);
        CAPTURE(said);
        CHECK(said.find("needs ieee_f32") != std::string::npos);
        CHECK(said.find(operation) != std::string::npos);
    }
}

}  // namespace
