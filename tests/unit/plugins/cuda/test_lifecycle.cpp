// SPDX-License-Identifier: Apache-2.0
//
// A missing driver or device, discovery, facts, loss and recovery, on the fake driver.
#include <cuda.h>
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "conformance/abi/cases.hpp"
#include "rig.hpp"
#include "wye/sdk/facts.hpp"

using harness::Device;
using harness::Plugin;
using rig::Config;
using rig::driver;
using rig::Machine;
using rig::Rig;

namespace {

constexpr harness::cases::Loss kIllegalAddress = {"cuda", CUDA_ERROR_ILLEGAL_ADDRESS};

std::string text(wye_string s) { return {s.data, s.size}; }

wye_device_info info_of(const Plugin& plugin, std::uint32_t index = 0) {
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(plugin.table->device_info(plugin.object, index, &info, nullptr) == WYE_OK);
    return info;
}

void check_refusal(const Plugin& plugin, wye_status status, const char* message, const char* fix) {
    CHECK(plugin.status == status);
    CHECK(plugin.devices == 0);
    CHECK_MESSAGE(plugin.failure.message.find(message) != std::string::npos,
                  plugin.failure.message);
    CHECK(plugin.failure.fix.rfind("Fix: ", 0) == 0);
    CHECK_MESSAGE(plugin.failure.fix.find(fix) != std::string::npos, plugin.failure.fix);
}

}  // namespace

TEST_CASE("no driver, a stub, an old one, no CUDA at all, no GPU: each says what to do") {
    check_refusal(Plugin(Config{{"cuda.library", "libcuda-that-is-not-there.so.1"}}),
                  WYE_MISSING_DEPENDENCY, "libcuda-that-is-not-there.so.1", "install the NVIDIA");
    check_refusal(Plugin(Config{{"cuda.library", "libm.so.6"}}), WYE_MISSING_DEPENDENCY, "cuInit",
                  "libcuda.so.1");
    {
        const Machine machine;
        driver().set_init(CUDA_ERROR_STUB_LIBRARY);
        const Plugin plugin(Rig::with_fake({}));
        check_refusal(plugin, WYE_MISSING_DEPENDENCY, "stub", "lib64/stubs");
        CHECK(plugin.failure.native_code == 34);
        CHECK(plugin.failure.native_domain == "cuda");
    }
    {
        const Machine machine;
        driver().set_version(10020);
        check_refusal(Plugin(Rig::with_fake({})), WYE_MISSING_DEPENDENCY, "CUDA 10.2",
                      "update the NVIDIA driver");
    }
    {
        const Machine machine;
        driver().set_init(CUDA_ERROR_NO_DEVICE);
        check_refusal(Plugin(Rig::with_fake({})), WYE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
                      "nvidia-smi");
    }
    const Machine none(0);
    check_refusal(Plugin(Rig::with_fake({})), WYE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "nvidia-smi");
}

#ifdef WYE_CUDA_STUB
TEST_CASE("the toolkit's own stub is told from a driver") {
    const Plugin plugin(Config{{"cuda.library", WYE_CUDA_STUB}});
    check_refusal(plugin, WYE_MISSING_DEPENDENCY, "stub", "lib64/stubs");
    CHECK(plugin.failure.native_code == 34);
}
#endif

TEST_CASE("a setting that is no number is refused") {
    const Plugin plugin(Rig::with_fake({{"cuda.spin_us", "soon"}}));
    CHECK(plugin.status == WYE_INVALID_ARGUMENT);
    CHECK(plugin.failure.message.find("`soon`") != std::string::npos);
}

TEST_CASE("devices have names, formats and honest facts") {
    const Machine machine(2);
    const Plugin plugin(Rig::with_fake({{"cuda.nvrtc", "libnvrtc-that-is-not-there.so"}}));
    REQUIRE(plugin.status == WYE_OK);
    CHECK(plugin.devices == 2);
    CHECK(text(info_of(plugin, 1).name) == "Fake GPU 1");
    const wye_device_info info = info_of(plugin);
    CHECK(info.state == WYE_DEVICE_USABLE);
    REQUIRE(info.format_count == 2);  // without NVRTC
    CHECK(text(info.formats[0]) == WYE_FORMAT_CUBIN);
    CHECK(text(info.formats[1]) == WYE_FORMAT_PTX);
    CHECK(text(plugin.fact(WYE_FACT_KEY_ISA).text) == "sm_90");
    CHECK(text(plugin.fact(WYE_FACT_KEY_API_VERSION).text) == "CUDA 13.0");
    CHECK(text(plugin.fact(WYE_FACT_KEY_PCI_ADDRESS).text) == "0000:18:00.0");
    CHECK(text(plugin.fact(WYE_FACT_KEY_UUID).text) == "00102030405060708090a0b0c0d0e0f0");
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_SIZE).xyz[2] == 64);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUPS).xyz[1] == 65535);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u == 232448);
    CHECK(plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u == std::uint64_t{1} << 30U);
    CHECK(plugin.fact(WYE_FACT_KEY_CLOCK_HZ).u == 1980000000);
    CHECK(plugin.fact(wye::sdk::facts::kF32ToF64Rate).u == 2);
    const wye_fact widths = plugin.fact(WYE_FACT_KEY_SUBGROUP_SIZES);
    REQUIRE(widths.list_size == 1);
    CHECK(widths.list[0] == 32);
    CHECK(plugin.flag(WYE_FACT_KEY_NATIVE_F32_DIV));
    CHECK(plugin.flag(WYE_FACT_KEY_GRID_SYNC));
    CHECK(plugin.fact(WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT).u == 4096);
    // Facts that this driver does not report, or for which the language has no construct, are
    // absent.
    for (const std::uint32_t key : {WYE_FACT_KEY_L2_CACHE_BYTES, WYE_FACT_KEY_MEMORY_BANDWIDTH,
                                    WYE_FACT_KEY_INDIRECT_DISPATCH, WYE_FACT_KEY_TENSOR_CORES}) {
        wye_status status = WYE_OK;
        (void)plugin.fact(key, &status);
        CHECK(status == WYE_UNSUPPORTED);
    }
    wye_status status = WYE_OK;
    (void)plugin.fact(0x7ffffff0U, &status);
    CHECK(status == WYE_UNKNOWN_KEY);
}

TEST_CASE("free memory is NVML's, of whole devices only") {
    const Machine machine(2);
    const Plugin with(Rig::with_fake({{"cuda.nvml", WYE_FAKE_CUDA}}));
    REQUIRE(with.status == WYE_OK);
    const wye_fact free = with.fact(WYE_FACT_KEY_FREE_MEMORY_BYTES);
    CHECK(free.u == std::uint64_t{1} << 29U);
    CHECK(text(free.source) == "nvmlDeviceGetMemoryInfo");
    const auto status_of = [](const Plugin& plugin, std::uint32_t device) {
        wye_fact fact = wye::sdk::facts::empty();
        return plugin.table->device_fact(plugin.object, device, WYE_FACT_KEY_FREE_MEMORY_BYTES,
                                         &fact);
    };
    CHECK(status_of(with, 0) == WYE_OK);
    CHECK(status_of(with, 1) == WYE_UNSUPPORTED);
    const Plugin without(Rig::with_fake({{"cuda.nvml", "libnvml-that-is-not-there.so.1"}}));
    REQUIRE(without.status == WYE_OK);
    CHECK(status_of(without, 0) == WYE_UNSUPPORTED);
}

TEST_CASE("a device that cannot be used is listed with the reason, and cannot be opened") {
    const Machine old(1, 52);
    {
        const Plugin plugin(Rig::with_fake({}));
        REQUIRE(plugin.devices == 1);
        const wye_device_info info = info_of(plugin);
        CHECK(info.state == WYE_DEVICE_UNUSABLE);
        CHECK(text(info.reason).find("5.2") != std::string::npos);
        harness::Sink sink;
        wye_device_object* device = nullptr;
        const wye_device_table* table = nullptr;
        CHECK(plugin.open(&device, &table, sink.out(), 0) == WYE_NO_DEVICE);
        CHECK(sink.failure().message == text(info.reason));
    }
    const Machine prohibited;
    driver().set_compute_mode(2);
    CHECK(text(info_of(Plugin(Rig::with_fake({}))).reason).find("prohibit") != std::string::npos);
}

TEST_CASE("everything is given back, and the caller's current context is left as found") {
    Rig rig;
    CUcontext before = nullptr;
    void* library = dlopen(WYE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    const auto current =
        reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(library, "cuCtxGetCurrent"));
    const auto push =
        reinterpret_cast<CUresult (*)(CUcontext)>(dlsym(library, "cuCtxPushCurrent_v2"));
    const auto pop =
        reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(library, "cuCtxPopCurrent_v2"));
    REQUIRE(static_cast<bool>(pop));
    auto* theirs = reinterpret_cast<CUcontext>(&before);
    for (const bool with_theirs : {false, true}) {
        if (with_theirs) push(theirs);
        {
            Device device(rig.plugin, with_theirs);
            wye_buffer_object* a = device.buffer(harness::bytes_of(harness::counting(64)));
            CHECK(driver().used_memory() >= 256);
            CHECK(device.program(rig::artifact()) != nullptr);
            CHECK(device.download(a, 256).size() == 256);
        }
        CUcontext after = nullptr;
        current(&after);
        CHECK(after == (with_theirs ? theirs : nullptr));
        if (with_theirs) pop(&after);
    }
    CHECK(driver().used_memory() == 0);
    CHECK(driver().live_objects() == 0);
}

TEST_CASE("out of memory says how much was asked for and is free, and harms nothing") {
    for (const int pools : {1, 0}) {
        const Machine machine;
        driver().set_pools(pools);
        driver().set_memory(1 << 20);
        Plugin plugin(Rig::with_fake({}));
        Device device(plugin);
        const auto content = harness::counting(1000);
        wye_buffer_object* kept = device.buffer(harness::bytes_of(content));
        CHECK(device.buffer(2 << 20) == nullptr);
        CHECK(device.failure.code == WYE_DEVICE_MEMORY);
        CHECK(device.failure.native_code == CUDA_ERROR_OUT_OF_MEMORY);
        CHECK(device.failure.message.find("2097152") != std::string::npos);
        CHECK(device.failure.message.find(std::to_string((1 << 20) - driver().used_memory())) !=
              std::string::npos);
        CHECK(harness::values_of<std::uint32_t>(device.download(kept, 4000)) == content);
        wye_memory_info memory{};
        memory.header.size = sizeof memory;
        CHECK(device.table->memory_info(device.object, &memory, nullptr) == WYE_OK);
        CHECK(memory.total_bytes == 1 << 20);
        CHECK(memory.free_bytes == (1 << 20) - driver().used_memory());
        CHECK(device.table->device_lost(device.object) == 0);
    }
}

TEST_CASE("an illegal address loses the device on every handle, and recovery brings it back") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(256);
    wye_program_object* program = device.program(rig::artifact());
    REQUIRE(program != nullptr);
    harness::cases::lost_on_every_handle(device, rig::artifact(), kIllegalAddress, [&] {
        const wye_binding bindings[] = {harness::binding(a, 0, 64), harness::binding(a, 0, 64)};
        const std::uint32_t step = 1;
        driver().hold(1);
        const wye_operation op = harness::dispatch(program, bindings, {1, 1, 1}, &step);
        REQUIRE(device.submit({&op, 1}) == WYE_OK);
        driver().fault(CUDA_ERROR_ILLEGAL_ADDRESS);
        driver().hold(0);
    });

    REQUIRE(device.table->try_recover(device.object, nullptr) == WYE_OK);
    CHECK(device.table->device_lost(device.object) == 0);
    device.queue_table->destroy(device.queue);  // a queue of the lost context: this does no harm
    device.queue = device.queue_create();
    const auto content = harness::counting(64);
    CHECK(harness::values_of<std::uint32_t>(
              device.download(device.buffer(harness::bytes_of(content)), 256)) == content);
    // A host may also open the device again, beside the recovered one.
    Device again(rig.plugin);
    CHECK(harness::values_of<std::uint32_t>(
              again.download(again.buffer(harness::bytes_of(content)), 256)) == content);
}

TEST_CASE("of two devices that one fault has lost, the second recovery leaves the first in use") {
    Rig rig;
    Device first(rig.plugin), second(rig.plugin);
    wye_buffer_object* a = second.buffer(256);
    wye_buffer_object* b = first.buffer(256);
    driver().fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(second.run(harness::fill(a, 0, 256, 1, 4)) == WYE_DEVICE_LOST);
    CHECK(first.run(harness::fill(b, 0, 256, 1, 4)) == WYE_DEVICE_LOST);
    const auto recover = [](Device& device) {
        REQUIRE(device.table->try_recover(device.object, nullptr) == WYE_OK);
        device.queue_table->destroy(device.queue);
        device.queue = device.queue_create();
    };
    const auto content = harness::counting(64);
    recover(first);
    wye_buffer_object* kept = first.buffer(harness::bytes_of(content));
    recover(second);
    CHECK(harness::values_of<std::uint32_t>(first.download(kept, 256)) == content);
    CHECK(harness::values_of<std::uint32_t>(
              second.download(second.buffer(harness::bytes_of(content)), 256)) == content);
    // A new fault is another loss, which resets the context again.
    driver().fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(second.run(harness::fill(second.buffer(256), 0, 256, 1, 4)) == WYE_DEVICE_LOST);
    recover(second);
    // The first device has not met the fault. Its objects are gone with the context, and not used.
    CHECK(first.table->device_lost(first.object) != 0);
    CHECK(first.run(harness::fill(kept, 0, 256, 1, 4)) == WYE_DEVICE_LOST);
    CHECK(harness::values_of<std::uint32_t>(
              second.download(second.buffer(harness::bytes_of(content)), 256)) == content);
}

TEST_CASE("where a fault outlives the context, opening again says to restart the process") {
    Rig rig;
    Device device(rig.plugin);
    driver().keep_faults(1);
    wye_buffer_object* a = device.buffer(256);
    driver().fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(device.run(harness::fill(a, 0, 256, 1, 4)) == WYE_DEVICE_LOST);
    harness::Sink sink;
    CHECK(device.table->try_recover(device.object, sink.out()) == WYE_DEVICE_LOST);
    CHECK(sink.failure().native_code == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(sink.failure().fix.rfind("Fix: restart the process", 0) == 0);
    CHECK(device.table->device_lost(device.object) == 1);
    CHECK(device.submit({}) == WYE_DEVICE_LOST);
    harness::cases::not_opened_again(rig.plugin, kIllegalAddress);
}
