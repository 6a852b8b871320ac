// SPDX-License-Identifier: Apache-2.0
//
// Buffers: descriptions, mappings, copies between devices, and who may use and free a buffer.
#include <chrono>
#include <cstring>
#include <thread>

#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_resident {
namespace {

using Words = std::vector<std::uint32_t>;

std::string text(wye_string s) { return {s.data, static_cast<std::size_t>(s.size)}; }

struct Ready : Calls<Ready> {
    explicit Ready(registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.kernel = add_kernel;
    }
    Rig rig;
    wye_device device = rig.device("fake:0");
    wye_device second = rig.device("fake:1");
    wye_program program = rig.prepared(device, kAdd);

    wye_buffer_info describe(wye_buffer buffer) const {
        wye_buffer_info out;
        WYE_INIT(out);
        check_ok(attempt(
            [&](wye_error** e) { return wye_buffer_describe(rig.context, buffer, &out, e); }));
        return out;
    }
    Outcome create(std::uint32_t usage, wye_buffer& out) const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 16;
        desc.usage = usage;
        desc.label = wye_str("window");
        return rig.create(device, desc, out);
    }
    Outcome map(wye_buffer buffer, wye_buffer_mapping& out) const {
        WYE_INIT(out);
        return attempt([&](wye_error** e) { return wye_buffer_map(rig.context, buffer, &out, e); });
    }
    Outcome unmap(wye_buffer buffer) const {
        return attempt([&](wye_error** e) { return wye_buffer_unmap(rig.context, buffer, e); });
    }
    Outcome sync(wye_buffer buffer, std::uint64_t offset, std::uint64_t size,
                 std::uint32_t direction) const {
        return attempt([&](wye_error** e) {
            return wye_buffer_sync(rig.context, buffer, offset, size, direction, e);
        });
    }
    Outcome across(wye_buffer from, std::uint64_t a, wye_buffer to, std::uint64_t b,
                   std::uint64_t size) const {
        return attempt([&](wye_error** e) {
            return wye_buffer_copy_across(rig.context, from, a, to, b, size, e);
        });
    }
    wye_counters counters(wye_device of) const { return rig.counters(of); }
    wye_pending submit(wye_buffer x, wye_buffer r) const {
        return submitted(Job(program, device).param(1).resident(0, x).resident(1, r));
    }
    void wait(wye_pending pending) const { check_ok(rig.wait(pending)); }
};

TEST_CASE("a buffer's description is that of its creation, with its present label and use") {
    Ready t;
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = 100;
    desc.alignment = 64;
    desc.usage = WYE_BUFFER_USAGE_READBACK;
    desc.label = wye_str("results");
    wye_buffer b = 0;
    check_ok(t.rig.create(t.second, desc, b));
    wye_buffer_info info = t.describe(b);
    CHECK(info.device == t.second);
    CHECK(text(info.selector) == "fake:1");
    CHECK(text(info.plugin) == "fake");
    CHECK(text(info.label) == "results");
    CHECK(info.size == 100);
    std::uint64_t size = 0;
    check_ok(attempt([&](wye_error** e) { return wye_buffer_size(t.rig.context, b, &size, e); }));
    CHECK(size == 100);
    CHECK(info.alignment == 64);
    CHECK(info.usage == WYE_BUFFER_USAGE_READBACK);
    CHECK(info.in_use == 0);
    CHECK(info.maps == 0);

    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_set_label(t.rig.context, b, wye_str("sums of the second round"), e);
    }));
    check_refused(attempt([&](wye_error** e) {
                      return wye_buffer_set_label(t.rig.context, b, {"x", UINT64_MAX}, e);
                  }),
                  WYE_INVALID_ARGUMENT, "`label` claims 18446744073709551615 bytes");
    CHECK(text(t.describe(b).label) == "sums of the second round");
    const Outcome refused =
        attempt([&](wye_error** e) { return wye_buffer_fill(t.rig.context, b, 96, 8, 0, 4, e); });
    check_refused(refused, WYE_INVALID_ARGUMENT, "`sums of the second round`");
    constexpr auto kMinusTwo = static_cast<std::uint64_t>(-2);
    check_ok(attempt(
        [&](wye_error** e) { return wye_buffer_fill(t.rig.context, b, 0, 100, kMinusTwo, 1, e); }));
    CHECK(t.rig.download<std::uint8_t>(b, 100) == std::vector<std::uint8_t>(100, 0xfe));
    check_ok(t.rig.free(b));

    const wye_buffer x = t.rig.buffer(t.device, 16), r = t.rig.buffer(t.device, 16);
    const wye_buffer idle = t.rig.buffer(t.device, 16);
    t.rig.driver.holds = true;
    const wye_pending pending = t.submit(x, r);
    CHECK(t.describe(x).in_use == 1);
    CHECK(t.describe(r).in_use == 1);
    CHECK(t.describe(idle).in_use == 0);
    check_refused(t.rig.free(r), WYE_BUFFER_IN_USE, "pending work");
    t.rig.driver.holds = false;
    t.wait(pending);
    CHECK(t.describe(r).in_use == 0);
    check_ok(t.rig.free(r));
}

TEST_CASE("usages that the library keeps for itself, and unknown ones, are refused") {
    Ready t;
    wye_buffer out = 0;
    for (const std::uint32_t usage :
         {std::uint32_t{WYE_BUFFER_USAGE_STAGING}, std::uint32_t{WYE_BUFFER_USAGE_REGISTERED}, 77U})
        check_refused(t.create(usage, out), WYE_INVALID_ARGUMENT, "is " + std::to_string(usage));
    CHECK(out == 0);
}

TEST_CASE("a plain transfer takes the whole buffer only") {
    Ready t;
    const wye_buffer b = t.rig.buffer(t.device, 16, "table");
    Words words = {1, 2, 3, 4, 5};
    const auto upload = [&](std::uint64_t size) {
        return attempt([&](wye_error** e) {
            return wye_buffer_upload(t.rig.context, b, {words.data(), size}, e);
        });
    };
    check_ok(upload(16));
    for (const std::uint64_t size : {0, 8, 15, 17}) {
        const int submits = t.rig.driver.submits;
        check_refused(upload(size), WYE_INVALID_ARGUMENT,
                      "an upload of " + std::to_string(size) + " bytes");
        check_refused(upload(size), WYE_INVALID_ARGUMENT, "`table`, which has 16 bytes");
        const Outcome down = attempt([&](wye_error** e) {
            return wye_buffer_download(t.rig.context, b, words.data(), size, e);
        });
        check_refused(down, WYE_INVALID_ARGUMENT,
                      "a download of " + std::to_string(size) + " bytes");
        CHECK(t.rig.driver.submits == submits);
    }
    CHECK(t.rig.download<std::uint32_t>(b, 4) == Words{1, 2, 3, 4});
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_upload_range(t.rig.context, b, 8, {words.data(), 4}, e);
    }));
    CHECK(t.rig.download<std::uint32_t>(b, 4) == Words{1, 2, 1, 4});

    wye_transfer_desc desc;
    WYE_INIT(desc);
    desc.kind = WYE_TRANSFER_UPLOAD;
    desc.flags = WYE_TRANSFER_WHOLE;
    desc.buffer = b;
    desc.offset = 8;
    desc.size = 8;
    desc.source = words.data();
    const auto transfer = [&] { return t.rig.transfer(desc); };
    check_refused(transfer(), WYE_INVALID_ARGUMENT, "not that of the whole buffer");
    wye_pending pending = 0;
    check_refused(t.rig.submit(desc, pending), WYE_INVALID_ARGUMENT,
                  "not that of the whole buffer");
    desc.kind = WYE_TRANSFER_FILL;
    desc.source = nullptr;
    desc.pattern_size = 4;
    check_refused(transfer(), WYE_INVALID_ARGUMENT, "for uploads and downloads");
}

TEST_CASE("a mapping has the buffer's bytes, before and after a dispatch") {
    Ready t;
    wye_buffer x = 0, r = 0;
    check_ok(t.create(WYE_BUFFER_USAGE_UPLOAD, x));
    check_ok(t.create(WYE_BUFFER_USAGE_SHARED, r));
    wye_buffer_mapping in, out, again;
    check_ok(t.map(x, in));
    check_ok(t.map(r, out));
    check_ok(t.map(r, again));
    CHECK(again.address == out.address);
    CHECK(out.size == 16);
    CHECK(t.describe(r).maps == 2);
    const Words values = {10, 20, 30, 40};
    std::memcpy(in.address, values.data(), 16);
    check_ok(t.sync(x, 0, 16, WYE_SYNC_TO_DEVICE));
    const auto before = t.counters(t.device);
    t.rig.driver.holds = true;
    const wye_pending pending = t.submit(x, r);
    // A sync to the host waits for the work that writes the buffer.
    std::thread releases([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        t.rig.driver.holds = false;
    });
    check_ok(t.sync(r, 0, 16, WYE_SYNC_TO_HOST));
    CHECK_FALSE(t.rig.driver.holds);
    releases.join();
    Words found(4);
    std::memcpy(found.data(), out.address, 16);
    CHECK(found == Words{11, 21, 31, 41});
    t.wait(pending);
    const auto after = t.counters(t.device);
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    CHECK(after.bytes_downloaded == before.bytes_downloaded);

    check_refused(t.rig.free(r), WYE_BUFFER_IN_USE, "`window` is mapped");
    check_ok(t.unmap(r));
    check_refused(t.rig.free(r), WYE_BUFFER_IN_USE, "is mapped");
    check_ok(t.unmap(r));
    check_refused(t.unmap(r), WYE_INVALID_ARGUMENT, "`window` is not mapped");
    check_refused(t.sync(r, 0, 16, WYE_SYNC_TO_HOST), WYE_INVALID_ARGUMENT, "is not mapped");
    check_ok(t.rig.free(r));
    check_refused(t.map(r, out), WYE_STALE_HANDLE, "freed");
    check_refused(t.sync(x, 8, 9, WYE_SYNC_TO_HOST), WYE_INVALID_ARGUMENT, "9 bytes at offset 8");
    check_refused(t.sync(x, 0, 16, 3), WYE_INVALID_ARGUMENT, "direction 3");
}

TEST_CASE("what cannot be mapped is refused by name, and stays usable") {
    Ready t;
    wye_buffer_mapping out;
    const wye_buffer plain = t.rig.buffer(t.device, 16, "inner");
    check_refused(t.map(plain, out), WYE_UNSUPPORTED, "fake:0 cannot map buffer `inner`");
    t.rig.driver.maps_none = true;
    wye_buffer shared = 0;
    check_ok(t.create(WYE_BUFFER_USAGE_SHARED, shared));
    check_refused(t.map(shared, out), WYE_UNSUPPORTED, "cannot map buffer `window`");
    CHECK(t.map(shared, out).text.find("Fix: use wye_buffer_upload") != std::string::npos);
    t.rig.upload(shared, Words{4, 3, 2, 1});
    CHECK(t.rig.download<std::uint32_t>(shared, 4) == Words{4, 3, 2, 1});
    check_ok(t.rig.free(shared));
    t.rig.driver.lose(0);
    check_refused(t.map(plain, out), WYE_DEVICE_LOST, "");
}

TEST_CASE("a copy between devices is refused unless it is asked for, and its bytes count") {
    Ready t;
    const wye_buffer here = t.rig.buffer(t.device, 16, "here");
    const wye_buffer near = t.rig.buffer(t.device, 16, "near");
    const wye_buffer there = t.rig.buffer(t.second, 20, "there");
    t.rig.upload(here, Words{1, 2, 3, 4});
    t.rig.upload(there, Words{9, 9, 9, 9, 9});
    const auto plain = attempt(
        [&](wye_error** e) { return wye_buffer_copy(t.rig.context, here, 0, there, 0, 16, e); });
    check_refused(plain, WYE_WRONG_OWNER, "(output 0, `target`)");
    const auto from = t.counters(t.device), to = t.counters(t.second);
    check_ok(t.across(here, 4, there, 8, 12));
    CHECK(t.rig.download<std::uint32_t>(there, 5) == Words{9, 9, 2, 3, 4});
    CHECK(t.counters(t.device).bytes_across == 12);
    CHECK(t.counters(t.second).bytes_across == 12);
    CHECK(t.counters(t.device).bytes_downloaded == from.bytes_downloaded + 12);
    CHECK(t.counters(t.second).bytes_uploaded == to.bytes_uploaded + 12);
    // A copy within one device does not go through the host.
    check_ok(t.across(here, 0, near, 8, 8));
    CHECK(t.counters(t.device).bytes_across == 12);
    CHECK(t.counters(t.device).bytes_copied == 8);
    CHECK(t.rig.download<std::uint32_t>(near, 4)[3] == 2);

    check_refused(t.across(here, 8, there, 0, 12), WYE_INVALID_ARGUMENT, "`here`");
    check_refused(t.across(here, 0, there, 8, 16), WYE_INVALID_ARGUMENT, "`there`");
    check_refused(t.across(0, 0, there, 0, 4), WYE_STALE_HANDLE, "(input 0, `source`)");
    check_refused(t.across(here, 0, 0, 0, 4), WYE_STALE_HANDLE, "(output 0, `target`)");
    t.rig.driver.lose(1);
    check_refused(t.across(here, 0, there, 0, 4), WYE_DEVICE_LOST, "");
    const int submits = t.rig.driver.submits;
    check_refused(t.across(here, 0, there, 0, 4), WYE_DEVICE_LOST, "fake:1 was lost");
    CHECK(t.rig.driver.submits == submits);  // refused before anything moves
}

TEST_CASE("an owner is checked before what a device supports, inputs first, by the right index") {
    Ready t;
    const wye_program program = t.rig.program(R"(wye 1; program state; workgroup 64;
        input a: u32[4]; input b: u32[4]; persistent s: u32[4]; persistent kept: u32[4] live;
        output q: u32[4]; output r: u32[4]; grid elements 4;
        main { let i = global_id.x; if i < 4u { s[i] = a[i]; kept[i] = b[i]; } })");
    constexpr std::uint32_t kBuffers = 6;
    wye_buffer own[kBuffers], foreign[kBuffers];
    for (std::uint32_t i = 0; i < kBuffers; ++i) {
        own[i] = t.rig.buffer(t.device, 16);
        foreign[i] = t.rig.buffer(t.second, 16);
    }
    // How messages name each binding. `kept` is the first output, since its binding is the lowest.
    const char* const places[kBuffers] = {"(input 0, `a`)",   "(input 1, `b`)",
                                          "(binding 2, `s`)", "(output 0, `kept`)",
                                          "(output 1, `q`)",  "(output 2, `r`)"};
    const auto run = [&](std::uint32_t wrong, std::uint32_t flags) {
        Job job(program, t.device);
        job.desc.flags = flags;
        for (std::uint32_t i = kBuffers; i-- > 0;)
            job.resident(i, (wrong >> i & 1U) != 0 ? foreign[i] : own[i]);
        return job.run(t.rig);
    };
    // Flags that no device of this driver supports.
    constexpr std::uint32_t kUnsupported[] = {0, WYE_DISPATCH_COOPERATIVE, WYE_DISPATCH_SPECULATION,
                                              WYE_DISPATCH_PERSISTENT};
    for (const std::uint32_t flags : kUnsupported)
        for (std::uint32_t i = 0; i < kBuffers; ++i) {
            check_refused(run(1U << i, flags), WYE_WRONG_OWNER, places[i]);
            CHECK(run(1U << i, flags).says("fake:1"));
        }
    check_refused(run(0b110001, 0), WYE_WRONG_OWNER, places[0]);
    check_refused(run(0, WYE_DISPATCH_SPECULATION), WYE_UNSUPPORTED, "speculation");
    check_ok(run(0, 0));
}

TEST_CASE("freeing a buffer that is only recorded makes the graph stale, and nothing else") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 16), r = t.rig.buffer(t.device, 16);
    t.rig.upload(x, Words{1, 2, 3, 4});
    Job job = Job(t.program, t.device).param(1).resident(0, x).resident(1, r);
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = t.device;
    wye_graph_step recorded_step{&job.filled(), nullptr};
    desc.steps = &recorded_step;
    desc.step_count = 1;
    wye_graph graph = 0, other = 0;
    const auto record = [&](wye_graph& out) {
        check_ok(attempt(
            [&](wye_error** e) { return wye_graph_create(t.rig.context, &desc, &out, e); }));
    };
    wye_graph_run_desc how;
    WYE_INIT(how);
    const auto run = [&](wye_graph one) { return t.rig.run(one, how); };
    record(graph);
    check_ok(run(graph));
    const auto rebind = [&](wye_buffer from, wye_buffer to) {
        const wye_graph_rebinding change{from, to};
        return t.rig.rebind(graph, &change, 1);
    };
    t.rig.driver.holds = true;
    const wye_pending pending = t.rig.submitted(graph, how);
    check_refused(t.rig.free(r), WYE_BUFFER_IN_USE, "pending work");
    check_refused(rebind(r, x), WYE_DEVICE_BUSY, "has an execution in flight");
    t.rig.driver.holds = false;
    t.wait(pending);
    check_ok(t.rig.free(r));
    const int submits = t.rig.driver.submits;
    check_refused(run(graph), WYE_STALE_HANDLE, "was freed");
    check_refused(run(graph), WYE_STALE_HANDLE, "was freed");
    CHECK(t.rig.driver.submits == submits);
    const wye_buffer fresh = t.rig.buffer(t.device, 16);
    job = Job(t.program, t.device).param(1).resident(0, x).resident(1, fresh);
    recorded_step.dispatch = &job.filled();
    record(other);
    check_ok(run(other));
    CHECK(t.rig.download<std::uint32_t>(fresh, 4) == Words{2, 3, 4, 5});
    check_refused(run(graph), WYE_STALE_HANDLE, "was freed");
    check_refused(rebind(fresh, x), WYE_NOT_FOUND, "no step names the buffer");
    check_ok(rebind(r, fresh));
    check_ok(run(graph));
    CHECK(t.rig.download<std::uint32_t>(fresh, 4) == Words{2, 3, 4, 5});
}

TEST_CASE("a report tells what ran, although the graph got other buffers before it was asked for") {
    constexpr std::uint64_t kFew = 16, kMany = 1 << 20;
    Ready t;
    const wye_buffer x[] = {t.rig.buffer(t.device, kFew), t.rig.buffer(t.device, kMany)};
    const wye_buffer r[] = {t.rig.buffer(t.device, kFew), t.rig.buffer(t.device, kMany)};
    Job job = Job(t.program, t.device).param(1).resident(0, x[0]).resident(1, r[0]);
    const wye_graph graph = t.rig.graph(t.device, {job.filled()});
    wye_graph_run_desc how;
    WYE_INIT(how);
    const auto submit = [&] { return t.rig.submitted(graph, how); };
    const auto groups = [&](wye_pending pending) {
        wye_report report;
        WYE_INIT(report);
        check_ok(t.rig.wait(pending, UINT64_MAX, &report));
        CHECK(report.device == t.device);
        CHECK(report.wall_ns >= report.enqueue_ns);
        check_ok(t.rig.free_pending(pending));
        return report.groups[0];
    };
    const std::uint32_t few = groups(submit());
    CHECK(few == 1);
    for (std::size_t round = 0; round < 4; ++round) {
        const std::size_t from = round % 2, to = 1 - from;
        const wye_pending first = submit(), second = submit();
        const wye_graph_rebinding changes[] = {{x[from], x[to]}, {r[from], r[to]}};
        check_ok(t.rig.rebind(graph, changes, 2));
        const wye_pending third = submit();
        CHECK((groups(third) == few) == (to == 0));
        CHECK((groups(second) == few) == (from == 0));
        CHECK((groups(first) == few) == (from == 0));
    }
}

}  // namespace
}  // namespace wye::exec::test::test_resident
