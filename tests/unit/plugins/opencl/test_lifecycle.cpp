// SPDX-License-Identifier: Apache-2.0
//
// Opening, absence, discovery and facts.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "conformance/abi/cases.hpp"
#include "support/temp_dir.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/kept_text.hpp"

using harness::Device;
using harness::Plugin;
namespace fs = std::filesystem;

namespace {

using Config = std::map<std::string, std::string>;

std::string text(wye_string s) { return {s.data, s.size}; }

}  // namespace

TEST_CASE("an absent library is a missing dependency that is named with its package") {
    harness::cases::absent_library_is_named("opencl.library", "libOpenCL-that-is-not-there.so.1",
                                            "ocl-icd-libopencl1");
}

TEST_CASE("a library without OpenCL's functions is refused by the first missing name") {
    harness::cases::foreign_library_is_refused("opencl.library", "clGetPlatformIDs");
}

TEST_CASE("PoCL is not asked when its empty cache folder would end the process") {
    Plugin plugin(Config{{"env.POCL_CACHE_DIR", ""}});
    CHECK(plugin.status == WYE_NO_DEVICE);
    CHECK(plugin.failure.message.find("POCL_CACHE_DIR") != std::string::npos);
    CHECK(plugin.failure.fix.rfind("Fix: unset POCL_CACHE_DIR", 0) == 0);
}

TEST_CASE("PoCL without a linker is listed as unusable and cannot be opened") {
    Plugin plugin(Config{{"env.PATH", "/nonexistent:/also/not"}});
    REQUIRE(plugin.devices >= 1);
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(plugin.table->device_info(plugin.object, 0, &info, nullptr) == WYE_OK);
    CHECK(info.state == WYE_DEVICE_UNUSABLE);
    CHECK(text(info.reason).find("`ld`") != std::string::npos);
    CHECK(text(info.fix).rfind("Fix: ", 0) == 0);
    harness::Sink sink;
    wye_device_object* device = nullptr;
    const wye_device_table* table = nullptr;
    CHECK(plugin.open(&device, &table, sink.out(), 0) == WYE_NO_DEVICE);
    CHECK(device == nullptr);
    CHECK(sink.failure().message == text(info.reason));
}

TEST_CASE("devices have names, formats and honest facts") {
    const Plugin plugin;
    harness::cases::first_device_takes(plugin, WYE_FORMAT_OPENCL_C);
    CHECK(plugin.flag(WYE_FACT_KEY_INT64));
    CHECK(plugin.flag(WYE_FACT_KEY_STORAGE8));
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u >= 32768);
    CHECK(plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u >= 16);
    CHECK(plugin.fact(WYE_FACT_KEY_PLATFORM).text.size > 0);
    CHECK(text(plugin.fact(WYE_FACT_KEY_API_VERSION).text).rfind("OpenCL ", 0) == 0);
    // OpenCL 1.2 does not report these facts, so the plugin does not claim them.
    harness::cases::facts_are_absent(
        plugin, std::array<std::uint32_t, 6>{
                    WYE_FACT_KEY_SUBGROUP, WYE_FACT_KEY_GRID_SYNC,
                    WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD, WYE_FACT_KEY_MAX_PRIVATE_BYTES,
                    WYE_FACT_KEY_SUBGROUP_SIZES, WYE_FACT_KEY_TENSOR_CORES});
}

TEST_CASE("how fast f64 is is measured on a GPU, and remembered") {
    const auto rate = [](const Config& config) {
        wye_status status = WYE_OK;
        const Plugin plugin(config);
        const wye_fact fact = plugin.fact(wye::sdk::facts::kF32ToF64Rate, &status);
        for (const std::string& line : plugin.host.log()) FAIL_CHECK(line);
        return status == WYE_OK ? fact.u : 0;
    };
    CHECK(rate({}) == 0);  // PoCL's device is a CPU
    const support::TempDir folder;
    const Config as_gpu{{"opencl.kind", "gpu"}, {"cache_folder", folder.path().string()}};
    const std::uint64_t measured = rate(as_gpu);
    CHECK(measured >= 1);
    const fs::directory_iterator files(folder.path());
    REQUIRE(files != fs::directory_iterator());
    const fs::path path = files->path();
    const std::string file = support::read_file(path);
    const auto parts = wye::sdk::kept_parts(file);
    REQUIRE(parts);
    CHECK(parts->text == std::to_string(measured));
    for (const char* const damaged : {"", "0", "7x", "-7"}) {
        std::ofstream(path) << wye::sdk::kept_file(parts->kind, parts->key, damaged);
        CHECK(rate(as_gpu) >= 1);
    }
    std::ofstream(path) << wye::sdk::kept_file(parts->kind, parts->key, "777");
    CHECK(rate(as_gpu) == 777);
}

TEST_CASE("nobody knows how much memory of a device is free") {
    Plugin plugin;
    Device device(plugin);
    wye_memory_info memory{};
    memory.header.size = sizeof memory;
    CHECK(device.table->memory_info(device.object, &memory, nullptr) == WYE_OK);
    CHECK(memory.free_bytes == UINT64_MAX);
}
