// SPDX-License-Identifier: Apache-2.0
//
// Resident buffers through wye.hpp, on the CPU and a real driver: mappings, copies between devices,
// and chains of dispatches that move no byte to or from the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "opened.hpp"
#include "wye/graph.hpp"
#include "wye/native.h"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_resident {
namespace {

using api_test::take;

constexpr std::string_view kStep = R"(wye 1; program advance; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 3u + k; } })";

struct Opened : test::Opened {
    wye::Program program = take(context.program_from_text(kStep));
};

TEST_CASE("a chain of resident dispatches moves no byte to or from the host") {
    const Opened t;
    Words host(5000);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint32_t>(i);
    auto a = take(t.device.buffer(host.size() * 4, "a"));
    auto b = take(t.device.buffer(host.size() * 4, "b"));
    take(a.upload(host));
    const auto before = take(t.device.counters());
    constexpr std::uint32_t kSteps = 12;
    for (std::uint32_t k = 0; k < kSteps; ++k) {
        wye::Dispatch step(t.program, t.device);
        step.param("k", k).bind("x", k % 2 == 0 ? a : b).bind("r", k % 2 == 0 ? b : a);
        take(step.run());
        for (std::uint32_t& word : host) word = word * 3U + k;
    }
    const auto after = take(t.device.counters());
    CHECK(after.dispatches - before.dispatches == kSteps);
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    CHECK(after.bytes_downloaded == before.bytes_downloaded);
    CHECK(after.bytes_across == before.bytes_across);
    CHECK(after.scratch_made == before.scratch_made);
    Words found(host.size());
    take(a.download(found));
    CHECK(found == host);
    CHECK(take(t.device.counters()).bytes_downloaded == before.bytes_downloaded + 20'000);
}

TEST_CASE("a resident output is read back in the submit of its dispatch") {
    const Opened t;
    wye::Program sum = take(t.context.program_from_text(
        "wye 1; program sum; workgroup 4; persistent s: u32[4] live; persistent hidden: u32[4];\n"
        "grid groups 1; main { s[local_id.x] = s[local_id.x] + 3u; hidden[local_id.x] = 1u; }"));
    // The first size is transferred directly. The second is large enough for staging memory. The
    // third would be read in chunks if the output were not resident.
    for (const std::size_t count : {5U, 50'000U, 1'000'000U}) {
        Words host(count);
        for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<std::uint32_t>(i * 7);
        auto x = take(t.device.buffer(count * 4)), r = take(t.device.buffer(count * 4));
        take(x.upload(host));
        Words expected(count), found(count), kept(count);
        const auto result = [&](std::uint32_t k) {
            for (std::size_t i = 0; i < count; ++i) expected[i] = host[i] * 3 + k;
            return expected;
        };
        wye::Dispatch step(t.program, t.device);
        step.bind("x", x).bind("r", r).output("r", found);
        take(step.param("k", 1U).run());  // compiles
        const auto before = take(t.device.counters());
        take(step.param("k", 2U).run());
        const auto after = take(t.device.counters());
        CHECK(found == result(2));
        CHECK(after.submits - before.submits == 1);
        CHECK(after.bytes_downloaded - before.bytes_downloaded == count * 4);
        CHECK(after.bytes_uploaded == before.bytes_uploaded);
        take(r.download(kept));
        CHECK(kept == expected);

        // A dispatch with a time limit delivers its outputs after its end.
        take(step.param("k", 3U).timeout_ns(60'000'000'000).run());
        CHECK(found == result(3));

        wye::Dispatch owning(t.program, t.device);
        owning.param("k", 4U).bind("x", x).bind("r", r).read_back("r");
        const auto outputs = take(owning.run_owned());
        CHECK(std::ranges::equal(take(outputs.get<std::uint32_t>("r")), result(4)));
        const auto pending = take(owning.param("k", 5U).submit());
        take(pending.wait());
        CHECK(std::ranges::equal(take(pending.output<std::uint32_t>("r")), result(5)));
        wye::OutputSlots slots;
        for (const std::uint32_t k : {6U, 7U}) {
            take(owning.param("k", k).run_into(slots));
            CHECK(std::ranges::equal(take(slots.get<std::uint32_t>("r")), result(k)));
        }
        const auto refused = owning.run();
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == wye::Code::INVALID_ARGUMENT);
        CHECK(refused.error().fix ==
              "Fix: pass storage for it; or call wye_dispatch_owned, or wye_dispatch_submit "
              "without WYE_DISPATCH_BORROW");
    }
    auto s = take(t.device.buffer(16)), hidden = take(t.device.buffer(16));
    take(s.upload(Words{10, 20, 30, 40}));
    take(hidden.fill(0, 0, 16));
    Words found(4);
    wye::Dispatch add(sum, t.device);
    add.bind("s", s).bind("hidden", hidden).output("s", found);
    take(add.run());
    take(add.run());
    CHECK(found == Words{16, 26, 36, 46});
    Words no(4);
    const auto refused = add.output("hidden", no).run();
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message ==
          "persistent `hidden` (binding 1) asks for an output, but is never read back");
    CHECK(refused.error().fix == "Fix: leave the output out, or declare it `live`");
}

TEST_CASE("a resident output of a program that traps is read back only without a trap") {
    const Opened t;
    const wye::Program program = take(t.context.program_from_text(
        "wye 1; program picky; workgroup 4; param bad: u32; output r: u32[4]; grid groups 1;\n"
        "main { if local_id.x == bad { trap 9; } r[local_id.x] = local_id.x + 1u; }"));
    auto r = take(t.device.buffer(16));
    Words found(4, 77);
    wye::Dispatch run(program, t.device);
    run.param("bad", 2U).bind("r", r).output("r", found);
    CHECK(run.run().error().code == wye::Code::TRAPPED);
    CHECK(found == Words{77, 77, 77, 77});
    take(run.param("bad", 4U).run());
    CHECK(found == Words{1, 2, 3, 4});
    wye::Dispatch owning(program, t.device);
    owning.bind("r", r).read_back("r");
    const auto trapped = take(owning.param("bad", 0U).submit());
    CHECK(trapped.wait().error().code == wye::Code::TRAPPED);
    const auto ended = take(owning.param("bad", 5U).submit());
    take(ended.wait());
    CHECK(std::ranges::equal(take(ended.output<std::uint32_t>("r")), Words{1, 2, 3, 4}));
}

TEST_CASE("threads that write one resident buffer each read back what they wrote") {
    const Opened t;
    const wye::Program picky = take(t.context.program_from_text(
        "wye 1; program fill; workgroup 64; param k: u32; param mayTrap: u32; output r: u32[];\n"
        "grid elements len(r); main { let i = global_id.x; if mayTrap == 1u { trap 3; }\n"
        "if i < len(r) { r[i] = k; } }"));
    for (const std::size_t count : {1000U, 700'000U}) {
        auto r = take(t.device.buffer(count * 4));
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (std::uint32_t n = 1; n <= 3; ++n)
            threads.emplace_back([&, n] {
                Words found(count);
                wye::Dispatch fill(picky, t.device);
                fill.param("mayTrap", 0U).bind("r", r).output("r", found);
                if (n == 2) fill.timeout_ns(60'000'000'000);
                for (std::uint32_t i = 0; i < 20; ++i) {
                    const std::uint32_t k = i * 10 + n;
                    if (!fill.param("k", k).run().ok() ||
                        std::ranges::count(found, k) != static_cast<std::ptrdiff_t>(count))
                        ++wrong;
                }
            });
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
    }
}

TEST_CASE("batches and graphs read resident outputs back") {
    const Opened t;
    const wye::Pipeline pipeline = take(wye::Pipeline::create(t.program, t.device));
    const Words host = {1, 2, 3};
    auto x = take(t.device.buffer(12)), r = take(t.device.buffer(12));
    take(x.upload(host));
    std::vector<Words> found(4, Words(3));
    std::vector<wye::Dispatch> items;
    std::vector<wye::Dispatch*> pointers;
    for (std::uint32_t k = 0; k < 4; ++k) {
        items.emplace_back(pipeline).param("k", k).bind("x", x).bind("r", r);
        if (k != 2) items.back().output("r", found[k]);
    }
    for (wye::Dispatch& item : items) pointers.push_back(&item);
    const auto done = pipeline.batch(pointers);
    CHECK_FALSE(done.error);
    CHECK(done.completed == 4);
    for (const std::uint32_t k : {0U, 1U, 3U}) CHECK(found[k] == Words{3 + k, 6 + k, 9 + k});
    CHECK(found[2] == Words{0, 0, 0});

    wye::Dispatch first(t.program, t.device), second(t.program, t.device);
    first.param("k", 10U).bind("x", x).bind("r", r).output("r", found[0]);
    second.param("k", 20U).bind("x", x).bind("r", r).output("r", found[1]);
    const auto graph = take(wye::Graph::record(t.device, {&first, &second}));
    const wye_report report = take(graph.run());
    CHECK(report.bytes_downloaded == 24);
    CHECK(found[0] == Words{13, 16, 19});
    CHECK(found[1] == Words{23, 26, 29});
}

TEST_CASE("a mapped buffer is written and read in place, where the device maps any") {
    const Opened t;
    const Words host = {5, 6, 7, 8};
    wye::Buffer x = take(t.device.buffer(16, "x", WYE_BUFFER_USAGE_UPLOAD));
    wye::Buffer r = take(t.device.buffer(16, "r", WYE_BUFFER_USAGE_READBACK));
    const auto in = x.map();
    const auto out = r.map();
    REQUIRE(in.ok() == out.ok());  // a device can map buffers of both usages, or none
    if (!in.ok()) {
        CHECK(in.error().code == wye::Code::UNSUPPORTED);
        CHECK(in.error().fix.starts_with("Fix: "));
        return;
    }
    REQUIRE(in->size() == 16);
    std::memcpy(in->data(), host.data(), 16);
    take(x.sync(WYE_SYNC_TO_DEVICE, 0, 16));
    const auto before = take(t.device.counters());
    take(wye::Dispatch(t.program, t.device).param("k", 1U).bind("x", x).bind("r", r).run());
    take(r.sync(WYE_SYNC_TO_HOST, 0, 16));
    Words found(4);
    std::memcpy(found.data(), out->data(), 16);
    CHECK(found == Words{16, 19, 22, 25});
    const auto after = take(t.device.counters());
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    CHECK(after.bytes_downloaded == before.bytes_downloaded);
    CHECK(x.free().error().code == wye::Code::BUFFER_IN_USE);
    take(x.unmap());
    take(x.free());
    take(r.unmap());
}

TEST_CASE("bytes move between devices only where it is asked for, and count") {
    if (support::test_driver() == "cpu") return;  // there is only one device
    const Opened t;
    const wye::Device cpu = take(t.context.open("cpu"));
    Words host(300'000);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint32_t>(i * 7);
    const std::uint64_t bytes = host.size() * 4;
    wye::Buffer here = take(cpu.buffer(bytes, "here"));
    wye::Buffer there = take(t.device.buffer(bytes, "there"));
    wye::Buffer back = take(cpu.buffer(bytes, "back"));
    take(here.upload(host));
    CHECK(there.copy_from(here, 0, 0, bytes).error().code == wye::Code::WRONG_OWNER);
    CHECK(take(cpu.counters()).bytes_across == 0);
    take(there.copy_across_from(here, 0, 0, bytes));
    take(back.copy_across_from(there, 4, 0, bytes - 4));
    Words found(host.size() - 1);
    take(back.download_range(found, 0));
    CHECK(std::equal(found.begin(), found.end(), host.begin() + 1));
    CHECK(take(cpu.counters()).bytes_across == 2 * bytes - 4);
    CHECK(take(t.device.counters()).bytes_across == 2 * bytes - 4);
    const auto info = take(there.describe());
    CHECK(info.device == t.device.get());
    CHECK(std::string_view(info.selector.data, info.selector.size) == support::test_driver());
    CHECK(info.size == bytes);
}

TEST_CASE("a range begins at any element, on every device with the same bytes") {
    const Opened t;
    const std::uint32_t count = 1000;
    const std::uint64_t alignment = take(t.device.fact("buffer_alignment")).u;
    for (const std::uint32_t skip : {1U, 3U, 64U}) {  // words before the ranges
        CAPTURE(alignment);
        CAPTURE(skip);
        Words host(count + 2 * skip), expected(host.size(), 77);
        for (std::size_t i = 0; i < host.size(); ++i)
            host[i] = static_cast<std::uint32_t>(i * 2654435761U);
        for (std::uint32_t i = 0; i < count; ++i) expected[skip + i] = host[skip + i] * 3 + 5;
        auto x = take(t.device.buffer(host.size() * 4, "x"));
        auto r = take(t.device.buffer(host.size() * 4, "r"));
        take(x.upload(host));
        take(r.fill(77, 0, host.size() * 4));
        wye::Dispatch step(t.program, t.device);
        step.param("k", 5U)
            .bind("x", x, std::uint64_t{skip} * 4, std::uint64_t{count} * 4)
            .bind("r", r, std::uint64_t{skip} * 4, std::uint64_t{count} * 4);
        const bool moved = skip * 4 % alignment != 0;
        for (int again = 0; again < 2; ++again) {
            const wye_report report = take(step.run());
            // x is copied in. r is copied in, too, since nothing fills it, and copied out.
            CHECK(report.bytes_copied == (moved ? 3 * std::uint64_t{count} * 4 : 0));
            CHECK(report.bytes_uploaded + report.bytes_downloaded == 0);
        }
        Words found(host.size());
        take(r.download(found));
        CHECK(found == expected);
        take(x.download(found));
        CHECK(found == host);
    }
    if (support::test_driver() == "cpu") CHECK(alignment == 1);
}

namespace {

// The type of the first value in the native handle of each kind of object; null: no handle.
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
    const std::string selector = support::test_driver();
    wye::Buffer buffer = take(t.device.buffer(16));
    take(buffer.upload(host));
    const wye::Queue queue = take(t.device.queue());
    take(t.device.prepare());
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
    ask(wye_device_native, t.device.get(), types.device);
    ask(wye_queue_native, queue.get(), types.queue);
    const std::uint64_t memory = ask(wye_buffer_native, buffer.get(), types.buffer);
    if (selector == "cpu")
        CHECK(std::memcmp(reinterpret_cast<void*>(memory), host.data(), 16) == 0);
}

TEST_CASE("a device is prepared, closed and opened again") {
    const Opened t;
    const std::string selector = support::test_driver();
    take(t.device.prepare());
    CHECK_FALSE(take(t.device.lost()));
    CHECK(take(t.device.recover()).get() == t.device.get());
    Words r(3);
    const Words x = {1, 2, 3};
    const auto run = [&](const wye::Device& on) {
        return wye::Dispatch(t.program, on).param("k", 1U).input("x", x).output("r", r).run();
    };
    REQUIRE(run(t.device).ok());
    wye::Buffer buffer = take(t.device.buffer(12));
    take(buffer.upload(x));
    take(t.device.close());
    CHECK(buffer.upload(x).error().code == wye::Code::STALE_HANDLE);
    CHECK(run(t.device).error().code == wye::Code::STALE_HANDLE);
    const wye::Device again = take(t.context.open(selector));
    r.assign(3, 0);
    REQUIRE(run(again).ok());
    CHECK(r == Words{4, 7, 10});
    take(t.context.shut_down());
    CHECK(t.context.open("cpu").error().code == wye::Code::SHUTTING_DOWN);
}

}  // namespace

}  // namespace wye::test::test_resident
