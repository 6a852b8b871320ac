// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, as `translate` and `program_create` use it: the real compiler, with the fake driver.
#include <doctest/doctest.h>

#include "rig.hpp"

using harness::Device;
using harness::Plugin;
using rig::Config;
using rig::Machine;
using rig::Rig;

namespace {

constexpr std::string_view kSource = R"(extern "C" __global__ void add(
    const unsigned* __restrict__ x, unsigned* r, const unsigned long long n, const unsigned step) {
    const unsigned i = blockIdx.x * 64u + threadIdx.x;
    if (i < n) r[i] = x[i] + step;
}
)";

wye_artifact artifact(std::string_view source, std::string_view options = "--std=c++17") {
    wye_artifact out = harness::artifact(source, "add", rig::kSlots, 2, 64, 4);
    out.format = {WYE_FORMAT_CUDA_C, sizeof WYE_FORMAT_CUDA_C - 1};
    out.options = {options.data(), options.size()};
    return out;
}

struct Translated {
    wye_status status = WYE_OK;
    std::string code;
    harness::Failure failure;
};

Translated translate(const Plugin& plugin, const wye_artifact& artifact, std::string_view format,
                     std::uint32_t device = UINT32_MAX) {
    Translated out;
    harness::Sink sink;
    wye_bytes bytes{};
    out.status = plugin.table->translate(plugin.object, device, &artifact,
                                         {format.data(), format.size()}, &bytes, sink.out());
    out.failure = sink.failure();
    if (out.status != WYE_OK) return out;
    out.code.assign(static_cast<const char*>(bytes.data), bytes.size);
    plugin.table->translate_release(plugin.object, bytes);
    return out;
}

}  // namespace

TEST_CASE("CUDA C becomes PTX and machine code without any driver") {
    const Plugin plugin(Config{{"cuda.library", "libcuda-that-is-not-there.so.1"}});
    REQUIRE(plugin.object != nullptr);
    CHECK(plugin.devices == 0);
    const Translated ptx = translate(plugin, artifact(kSource), WYE_FORMAT_PTX);
    REQUIRE_MESSAGE(ptx.status == WYE_OK, ptx.failure.message);
    CHECK(ptx.code.find(".visible .entry add(") != std::string::npos);
    CHECK(ptx.code.find('\0') == std::string::npos);
    const Translated named = translate(
        plugin, artifact(kSource, "--std=c++17 --gpu-architecture=sm_90"), WYE_FORMAT_PTX);
    CHECK(named.code.find(".target sm_90") != std::string::npos);
    const Translated cubin = translate(
        plugin, artifact(kSource, "--gpu-architecture=sm_90 --std=c++17"), WYE_FORMAT_CUBIN);
    REQUIRE_MESSAGE(cubin.status == WYE_OK, cubin.failure.message);
    CHECK(cubin.code.substr(1, 3) == "ELF");

    const Translated nameless = translate(plugin, artifact(kSource), WYE_FORMAT_CUBIN);
    CHECK(nameless.status == WYE_INVALID_ARGUMENT);
    CHECK(nameless.failure.fix.find("sm_90") != std::string::npos);
    const Translated unknown =
        translate(plugin, artifact(kSource, "--gpu-architecture=sm_1"), WYE_FORMAT_CUBIN);
    CHECK(unknown.status == WYE_UNSUPPORTED);
    CHECK(translate(plugin, artifact(kSource), WYE_FORMAT_OPENCL_C).status == WYE_UNSUPPORTED);
}

TEST_CASE("source that does not compile gives the log and the line") {
    const Plugin plugin(Config{{"cuda.library", "libcuda-that-is-not-there.so.1"}});
    const std::string source =
        "extern \"C\" __global__ void add(unsigned* r) {\n    r[0] = undeclared_name;\n}\n";
    const Translated got = translate(plugin, artifact(source), WYE_FORMAT_PTX);
    CHECK(got.status == WYE_COMPILE_FAILED);
    CHECK(got.failure.native_domain == "nvrtc");
    CHECK(got.failure.message.find("undeclared_name") != std::string::npos);
    CHECK(got.failure.message.find("source line 2") != std::string::npos);
    REQUIRE(got.failure.cause != nullptr);
    CHECK(got.failure.cause->message.find("1 error detected") != std::string::npos);
}

TEST_CASE("a device takes CUDA C, as machine code for its own architecture") {
    Rig rig;
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(rig.plugin.table->device_info(rig.plugin.object, 0, &info, nullptr) == WYE_OK);
    REQUIRE(info.format_count == 3);
    CHECK(std::string(info.formats[0].data, info.formats[0].size) == WYE_FORMAT_CUDA_C);
    const Translated ptx = translate(rig.plugin, artifact(kSource), WYE_FORMAT_PTX, 0);
    CHECK(ptx.code.find(".target sm_90") != std::string::npos);

    Device device(rig.plugin);
    wye_program_object* program = device.program(artifact(kSource));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    wye_bytes saved{};
    REQUIRE(device.table->program_save(device.object, program, &saved, nullptr) == WYE_OK);
    CHECK(std::string(static_cast<const char*>(saved.data) + 1, 3) == "ELF");
    CHECK(device.program(artifact("not C")) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
}

TEST_CASE("a device that is newer than NVRTC gets PTX, one that is older is told so") {
    const Machine newer(1, 200);
    {
        Plugin plugin(Rig::with_fake({}));
        Device device(plugin);
        wye_program_object* program = device.program(artifact(kSource));
        REQUIRE_MESSAGE(program != nullptr, device.failure.message);
        wye_bytes saved{};
        REQUIRE(device.table->program_save(device.object, program, &saved, nullptr) == WYE_OK);
        CHECK(std::string(static_cast<const char*>(saved.data), saved.size).find(".target") !=
              std::string::npos);
    }
    rig::driver().reset(1, 60);
    Plugin plugin(Rig::with_fake({}));
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(plugin.table->device_info(plugin.object, 0, &info, nullptr) == WYE_OK);
    Device device(plugin);
    if (info.format_count == 3) return;  // an NVRTC of CUDA 12 still knows sm_60
    CHECK(device.program(artifact(kSource)) == nullptr);
    CHECK(device.failure.message.find("sm_60") != std::string::npos);
}

TEST_CASE("what only saves time is left out where NVRTC is too old for it") {
    const wye_artifact source =
        artifact(kSource, "--gpu-architecture=sm_90 --fmad=false --minimal");
    const Plugin older(Config{{"cuda.nvrtc", WYE_FAKE_NVRTC_12_3}});
    const Translated left_out = translate(older, source, WYE_FORMAT_CUBIN);
    REQUIRE_MESSAGE(left_out.status == WYE_OK, left_out.failure.message);
    CHECK(left_out.code == "--gpu-architecture=sm_90\n--fmad=false\n");
    const Plugin newer(Config{{"cuda.nvrtc", WYE_FAKE_NVRTC_12_4}});
    CHECK(translate(newer, source, WYE_FORMAT_CUBIN).code ==
          "--gpu-architecture=sm_90\n--fmad=false\n--minimal\n");
    // No other option is left out: that might change the code.
    const wye_artifact unknown = artifact(kSource, "--gpu-architecture=sm_90 --pch");
    CHECK(translate(older, unknown, WYE_FORMAT_CUBIN).failure.message.find("INVALID_OPTION") !=
          std::string::npos);
}

TEST_CASE("an absent NVRTC is a missing dependency, and PTX still runs") {
    Rig rig(Config{{"cuda.nvrtc", "libnvrtc-that-is-not-there.so"}});
    Device device(rig.plugin);
    CHECK(device.program(artifact(kSource)) == nullptr);
    CHECK(device.failure.code == WYE_MISSING_DEPENDENCY);
    CHECK(device.failure.message.find("libnvrtc-that-is-not-there.so") != std::string::npos);
    CHECK(device.failure.fix.find("cuda-nvrtc") != std::string::npos);
    CHECK(device.program(rig::artifact()) != nullptr);
}
