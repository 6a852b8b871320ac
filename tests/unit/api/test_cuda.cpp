// SPDX-License-Identifier: Apache-2.0
//
// The CUDA plugin through the public API: real lowering and real NVRTC, but a fake driver that
// hands each launch to a function of the test.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "cuda/fake_cuda.hpp"
#include "take.hpp"
#include "wye/graph.hpp"
#include "wye/wye.hpp"

namespace {

using api_test::take;

wye::Context context(const std::string& driver) {
    return take(
        wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                              .plugin_paths = {WYE_CUDA_FOLDER},
                              .config = {{"cuda.library", driver}, {"probe.mode", "off"}}}));
}

const fake_cuda::Control& fake() {
    void* library = dlopen(WYE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    REQUIRE(library != nullptr);
    const auto get =
        reinterpret_cast<const fake_cuda::Control* (*)()>(dlsym(library, "fake_cuda_control"));
    REQUIRE(static_cast<bool>(get));
    return *get();
}

constexpr const char* kNoDriver = "libcuda-that-is-not-there.so.1";
constexpr std::string_view kScale = R"(wye 1; program scale; workgroup 64; param factor: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * factor; } })";

fake_cuda::Launch seen;
unsigned launches = 0;

// Does what the lowered kernel does. The parameters of the kernel, in order: x, r, the count of r,
// {factor}.
void scale(const fake_cuda::Launch& launch) {
    seen = launch;
    ++launches;
    std::uint64_t x = 0, r = 0, count = 0;
    std::uint32_t factor = 0;
    std::memcpy(&x, launch.arguments[0], 8);
    std::memcpy(&r, launch.arguments[1], 8);
    std::memcpy(&count, launch.arguments[2], 8);
    std::memcpy(&factor, launch.arguments[3], 4);
    for (std::uint64_t i = 0; i < count; ++i)
        reinterpret_cast<std::uint32_t*>(r)[i] = reinterpret_cast<std::uint32_t*>(x)[i] * factor;
}

TEST_CASE("programs become PTX and machine code where there is no driver") {
    const auto ctx = context(kNoDriver);
    const auto program = take(ctx.program_from_text(kScale));
    const std::string ptx = take(program.lower("ptx"));
    CHECK(ptx.find(".visible .entry wye_main(") != std::string::npos);
    CHECK(take(program.lower("ptx:sm_90")).find(".target sm_90") != std::string::npos);
    CHECK(take(program.lower("cubin:sm_90")).substr(1, 3) == "ELF");

    const auto nameless = program.lower("cubin");
    REQUIRE_FALSE(nameless.ok());
    CHECK(nameless.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(nameless.error().fix.find("sm_90") != std::string::npos);
    const auto unknown = program.lower("ptx9");
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().fix.find("cubin") != std::string::npos);
    const auto device = ctx.open("cuda:0");
    REQUIRE_FALSE(device.ok());
    CHECK(device.error().text().find(kNoDriver) != std::string::npos);
    CHECK(device.error().text().find("Fix: install the NVIDIA driver") != std::string::npos);

    const auto bare = take(wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    const auto without = take(bare.program_from_text(kScale)).lower("ptx");
    REQUIRE_FALSE(without.ok());
    CHECK(without.error().code == wye::Code::NOT_FOUND);
}

TEST_CASE("a dispatch reaches the driver with the arguments in slot order") {
    fake().reset(1, 90);
    fake().set_kernel(scale);
    launches = 0;
    {
        const auto ctx = context(WYE_FAKE_CUDA);
        const auto device = take(ctx.open("cuda:0"));
        const auto program = take(ctx.program_from_text(kScale));
        std::vector<std::uint32_t> x(1000), r(1000);
        std::iota(x.begin(), x.end(), 1U);
        const auto first = take(
            wye::Dispatch(program, device).param("factor", 3U).input("x", x).output("r", r).run());
        CHECK(first.compiled == 1);
        for (std::uint32_t i = 0; i < 1000; ++i) CHECK(r[i] == 3 * (i + 1));
        CHECK(std::string(seen.kernel) == "wye_main");
        CHECK(seen.groups[0] == 16);
        CHECK(seen.workgroup[0] == 64);
        const auto second = take(
            wye::Dispatch(program, device).param("factor", 5U).input("x", x).output("r", r).run());
        CHECK(second.compiled == 0);
        CHECK(r[999] == 5000);
        CHECK(launches == 2);
        CHECK(take(program.lower("ptx", device.get())).find(".target sm_90") != std::string::npos);
    }
    CHECK(fake().live_objects() == 0);
    CHECK(fake().used_memory() == 0);
}

// Each phase of the program has at least four kernel arguments, since the fake driver copies four.
constexpr std::string_view kParts = R"(wye 1; program parts; workgroup 64; param k: u32;
input x: u32[]; input_output a: u32[len(x)]; grid elements len(x);
main {
    if global_id.x < len(x) { a[global_id.x] = x[global_id.x] + k; }
    grid_barrier;
    if global_id.x < len(x) { a[global_id.x] = x[global_id.x] * k; }
    grid_barrier;
    if global_id.x < len(x) { a[global_id.x] = x[global_id.x] - k; }
})";

TEST_CASE("a cooperative program with grid barriers is split only if it has too many workgroups") {
    fake().reset(1, 90);
    fake().set_kernel([](const fake_cuda::Launch&) { ++launches; });
    const auto ctx = context(WYE_FAKE_CUDA);
    const auto device = take(ctx.open("cuda:0"));
    const auto program = take(ctx.program_from_text(kParts));
    // The fake GPU runs 2048 invocations at once on each of its 132 multiprocessors.
    constexpr std::uint64_t kRoom = 2048 / 64 * 132;
    const auto few = take(device.buffer(kRoom * 256)), many = take(device.buffer(kRoom * 256 + 4));
    const auto a = take(device.buffer(kRoom * 256)), b = take(device.buffer(kRoom * 256 + 4));
    wye::Dispatch fits(program, device), split(program, device);
    fits.param("k", 3U).bind("x", few).bind("a", a).cooperative();
    split.param("k", 3U).bind("x", many).bind("a", b).cooperative();
    const auto check = [&](const auto& run, std::uint32_t use, unsigned total) {
        launches = 0;
        CHECK(take(run()).cooperative == use);
        CHECK(launches == total);
    };
    check([&] { return split.run(); }, WYE_COOPERATIVE_SPLIT_ROOM, 3);
    CHECK(fake().cooperative_launches() == 0);
    check([&] { return fits.run(); }, WYE_COOPERATIVE_NATIVE, 1);
    CHECK(fake().cooperative_launches() == 1);
    // The fake driver counts the cooperative nodes of a graph when the graph runs for the first
    // time.
    const wye::Graph one = take(wye::Graph::record(device, {&fits}));
    const wye::Graph both = take(wye::Graph::record(device, {&fits, &split}));
    check([&] { return one.run(); }, WYE_COOPERATIVE_NATIVE, 1);
    CHECK(fake().cooperative_launches() == 2);
    check([&] { return both.run(); }, WYE_COOPERATIVE_SPLIT_ROOM, 4);
    CHECK(fake().cooperative_launches() == 3);
    for (int again = 0; again < 3; ++again) {
        check([&] { return fits.run(); }, WYE_COOPERATIVE_NATIVE, 1);
        check([&] { return split.run(); }, WYE_COOPERATIVE_SPLIT_ROOM, 3);
        check([&] { return one.run(); }, WYE_COOPERATIVE_NATIVE, 1);
        check([&] { return both.run(); }, WYE_COOPERATIVE_SPLIT_ROOM, 4);
    }
}

}  // namespace
