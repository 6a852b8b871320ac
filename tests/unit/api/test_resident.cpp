// SPDX-License-Identifier: Apache-2.0
//
// Resident buffers through wye.hpp, on the CPU and a real driver: mappings, copies between devices,
// and chains of dispatches that move no byte to or from the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/native.h"
#include "wye/wye.hpp"

namespace {

using Words = std::vector<std::uint32_t>;

using api_test::take;

constexpr std::string_view kStep = R"(wye 1; program advance; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 3u + k; } })";

struct Opened {
    wye::Context context =
        take(wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    wye::Program program = take(context.program_from_text(kStep));
    wye::Device cpu = take(context.open("cpu"));
    wye::Device driver = take(context.open(support::test_driver()));
};

TEST_CASE("a chain of resident dispatches moves no byte to or from the host") {
    const Opened t;
    for (const wye::Device* device : {&t.cpu, &t.driver}) {
        Words host(5000);
        for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint32_t>(i);
        auto a = take(device->buffer(host.size() * 4, "a"));
        auto b = take(device->buffer(host.size() * 4, "b"));
        take(a.upload(host));
        const auto before = take(device->counters());
        constexpr std::uint32_t kSteps = 12;
        for (std::uint32_t k = 0; k < kSteps; ++k) {
            wye::Dispatch step(t.program, *device);
            step.param("k", k).bind("x", k % 2 == 0 ? a : b).bind("r", k % 2 == 0 ? b : a);
            take(step.run());
            for (std::uint32_t& word : host) word = word * 3U + k;
        }
        const auto after = take(device->counters());
        CHECK(after.dispatches - before.dispatches == kSteps);
        CHECK(after.bytes_uploaded == before.bytes_uploaded);
        CHECK(after.bytes_downloaded == before.bytes_downloaded);
        CHECK(after.bytes_across == before.bytes_across);
        CHECK(after.scratch_made == before.scratch_made);
        Words found(host.size());
        take(a.download(found));
        CHECK(found == host);
        CHECK(take(device->counters()).bytes_downloaded == before.bytes_downloaded + 20'000);
    }
}

TEST_CASE("a mapped buffer is written and read in place, where the device maps any") {
    const Opened t;
    for (const wye::Device* device : {&t.cpu, &t.driver}) {
        const Words host = {5, 6, 7, 8};
        wye::Buffer x = take(device->buffer(16, "x", WYE_BUFFER_USAGE_UPLOAD));
        wye::Buffer r = take(device->buffer(16, "r", WYE_BUFFER_USAGE_READBACK));
        const auto in = x.map();
        const auto out = r.map();
        REQUIRE(in.ok() == out.ok());  // all or none
        if (!in.ok()) {
            CHECK(in.error().code == wye::Code::UNSUPPORTED);
            CHECK(in.error().fix.starts_with("Fix: "));
            continue;
        }
        REQUIRE(in->size() == 16);
        std::memcpy(in->data(), host.data(), 16);
        take(x.sync(WYE_SYNC_TO_DEVICE, 0, 16));
        const auto before = take(device->counters());
        take(wye::Dispatch(t.program, *device).param("k", 1U).bind("x", x).bind("r", r).run());
        take(r.sync(WYE_SYNC_TO_HOST, 0, 16));
        Words found(4);
        std::memcpy(found.data(), out->data(), 16);
        CHECK(found == Words{16, 19, 22, 25});
        const auto after = take(device->counters());
        CHECK(after.bytes_uploaded == before.bytes_uploaded);
        CHECK(after.bytes_downloaded == before.bytes_downloaded);
        CHECK(x.free().error().code == wye::Code::BUFFER_IN_USE);
        take(x.unmap());
        take(x.free());
        take(r.unmap());
    }
}

TEST_CASE("bytes move between devices only where it is asked for, and count") {
    const Opened t;
    Words host(300'000);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint32_t>(i * 7);
    const std::uint64_t bytes = host.size() * 4;
    wye::Buffer here = take(t.cpu.buffer(bytes, "here"));
    wye::Buffer there = take(t.driver.buffer(bytes, "there"));
    wye::Buffer back = take(t.cpu.buffer(bytes, "back"));
    take(here.upload(host));
    CHECK(there.copy_from(here, 0, 0, bytes).error().code == wye::Code::WRONG_OWNER);
    CHECK(take(t.cpu.counters()).bytes_across == 0);
    take(there.copy_across_from(here, 0, 0, bytes));
    take(back.copy_across_from(there, 4, 0, bytes - 4));
    Words found(host.size() - 1);
    take(back.download_range(found, 0));
    CHECK(std::equal(found.begin(), found.end(), host.begin() + 1));
    CHECK(take(t.cpu.counters()).bytes_across == 2 * bytes - 4);
    CHECK(take(t.driver.counters()).bytes_across == 2 * bytes - 4);
    const auto info = take(there.describe());
    CHECK(info.device == t.driver.get());
    CHECK(std::string_view(info.selector.data, info.selector.size) == support::test_driver());
    CHECK(info.size == bytes);
}

TEST_CASE("a range begins at any element, on every device with the same bytes") {
    const Opened t;
    const std::uint32_t count = 1000;
    for (const wye::Device* device : {&t.cpu, &t.driver}) {
        const std::uint64_t alignment = take(device->fact("buffer_alignment")).u;
        for (const std::uint32_t skip : {1U, 3U, 64U}) {  // words before the ranges
            CAPTURE(alignment);
            CAPTURE(skip);
            Words host(count + 2 * skip), expected(host.size(), 77);
            for (std::size_t i = 0; i < host.size(); ++i)
                host[i] = static_cast<std::uint32_t>(i * 2654435761U);
            for (std::uint32_t i = 0; i < count; ++i) expected[skip + i] = host[skip + i] * 3 + 5;
            auto x = take(device->buffer(host.size() * 4, "x"));
            auto r = take(device->buffer(host.size() * 4, "r"));
            take(x.upload(host));
            take(r.fill(77, 0, host.size() * 4));
            wye::Dispatch step(t.program, *device);
            step.param("k", 5U)
                .bind("x", x, std::uint64_t{skip} * 4, std::uint64_t{count} * 4)
                .bind("r", r, std::uint64_t{skip} * 4, std::uint64_t{count} * 4);
            const bool moved = skip * 4 % alignment != 0;
            for (int again = 0; again < 2; ++again) {
                const wye_report report = take(step.run());
                // x goes in; r goes in, since nothing fills it, and comes out.
                CHECK(report.bytes_copied == (moved ? 3 * std::uint64_t{count} * 4 : 0));
                CHECK(report.bytes_uploaded + report.bytes_downloaded == 0);
            }
            Words found(host.size());
            take(r.download(found));
            CHECK(found == expected);
            take(x.download(found));
            CHECK(found == host);
        }
    }
    CHECK(take(t.cpu.fact("buffer_alignment")).u == 1);
}

namespace {

// The first type of each kind of object; null: the plugin has none.
struct NativeTypes {
    const char *plugin, *device, *queue, *buffer;
};
constexpr NativeTypes kNativeTypes[] = {
    {"cpu", nullptr, nullptr, "void*"},
    {"cuda", "CUcontext", "CUstream", "CUdeviceptr"},
    {"opencl", "cl_context", "cl_command_queue", "cl_mem"},
    {"vulkan", "VkDevice", "VkQueue", "VkBuffer"},
};
const NativeTypes& native_types(std::string_view selector) {
    const auto* const found = std::ranges::find_if(
        kNativeTypes, [&](const NativeTypes& one) { return selector.starts_with(one.plugin); });
    REQUIRE(found != std::end(kNativeTypes));
    return *found;
}

}  // namespace

TEST_CASE("native handles: the plugin's types, and on the CPU the bytes themselves") {
    const Opened t;
    const Words host = {9, 8, 7, 6};
    for (const wye::Device* device : {&t.cpu, &t.driver}) {
        const std::string selector = device == &t.cpu ? "cpu" : support::test_driver();
        wye::Buffer buffer = take(device->buffer(16));
        take(buffer.upload(host));
        const wye::Queue queue = take(device->queue());
        take(device->prepare());
        const auto ask = [&](auto call, std::uint64_t handle, const char* type) {
            wye_native_handle out;
            WYE_INIT(out);
            std::uint64_t value = 0;
            const wye_status status = call(t.context.get(), handle, &out, nullptr);
            if (type == nullptr) {
                CHECK(status == WYE_UNSUPPORTED);
                return value;
            }
            REQUIRE(status == WYE_OK);
            CHECK(wye_native_get(&out, type, &value) == 1);
            CHECK(value != 0);
            return value;
        };
        const NativeTypes& types = native_types(selector);
        ask(wye_device_native, device->get(), types.device);
        ask(wye_queue_native, queue.get(), types.queue);
        const std::uint64_t memory = ask(wye_buffer_native, buffer.get(), types.buffer);
        if (device == &t.cpu)
            CHECK(std::memcmp(reinterpret_cast<void*>(memory), host.data(), 16) == 0);
    }
}

TEST_CASE("a device is prepared, closed and opened again") {
    const Opened t;
    for (const wye::Device* device : {&t.cpu, &t.driver}) {
        const std::string selector = device == &t.cpu ? "cpu" : support::test_driver();
        take(device->prepare());
        CHECK_FALSE(take(device->lost()));
        CHECK(take(device->recover()).get() == device->get());
        Words r(3);
        const Words x = {1, 2, 3};
        const auto run = [&](const wye::Device& on) {
            return wye::Dispatch(t.program, on).param("k", 1U).input("x", x).output("r", r).run();
        };
        REQUIRE(run(*device).ok());
        wye::Buffer buffer = take(device->buffer(12));
        take(buffer.upload(x));
        take(device->close());
        CHECK(buffer.upload(x).error().code == wye::Code::STALE_HANDLE);
        CHECK(run(*device).error().code == wye::Code::STALE_HANDLE);
        const wye::Device again = take(t.context.open(selector));
        r.assign(3, 0);
        REQUIRE(run(again).ok());
        CHECK(r == Words{4, 7, 10});
    }
    take(t.context.shut_down());
    CHECK(t.context.open("cpu").error().code == wye::Code::SHUTTING_DOWN);
}

}  // namespace
