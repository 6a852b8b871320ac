// SPDX-License-Identifier: Apache-2.0
//
// Outputs that the result owns, and device times, for blocking and asynchronous dispatches.
#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_owned {
namespace {

using Words = std::vector<std::uint32_t>;

struct Ready : Calls<Ready> {
    Ready() { rig.driver.kernel = add_kernel; }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    Words x = {1, 2, 3};
    wye_report report = [] {
        wye_report out;
        WYE_INIT(out);
        return out;
    }();

    Job job() {
        Job out(program, device);
        out.param(1).in(0, x.data(), 12).out(1, nullptr, 0);
        return out;
    }
    Outcome owned(const wye_dispatch_desc& desc, wye_pending& out) {
        return attempt([&](wye_error** e) {
            return wye_dispatch_owned(rig.context, &desc, &report, &out, e);
        });
    }
    Words words(wye_pending pending) {
        const wye_bytes bytes = rig.output(pending);
        const auto* from = static_cast<const std::uint32_t*>(bytes.data);
        return {from, from + bytes.size / 4};
    }
};

TEST_CASE("a dispatch whose outputs the result owns has ended when it returns, with its report") {
    Ready t;
    wye_pending out = 0;
    check_ok(t.owned(t.job().filled(), out));
    CHECK(t.report.bytes_uploaded == 12);
    CHECK(t.report.bytes_downloaded == 12);
    CHECK(t.report.device == t.device);
    CHECK(t.report.wall_ns >= t.report.enqueue_ns);
    CHECK(t.report.device_ns == WYE_TIME_UNKNOWN);
    CHECK(t.rig.ended(out));
    CHECK(t.words(out) == Words{2, 3, 4});
    t.x = {9, 9, 9};
    wye_pending second = 0;
    check_ok(t.owned(t.job().filled(), second));
    CHECK(t.words(out) == Words{2, 3, 4});  // the first result is unchanged
    CHECK(t.words(second) == Words{10, 10, 10});
    check_ok(t.free(out));
    check_ok(t.free(second));
}

TEST_CASE("every form is timed by the driver if it has times, else the time is unknown") {
    for (const bool has : {true, false}) {
        for (const bool asks : {true, false}) {
            CAPTURE(has);
            CAPTURE(asks);
            Ready t;
            t.rig.driver.has_timing = has;
            const std::uint64_t want = has && asks ? 1234 : WYE_TIME_UNKNOWN;
            Job job = t.job();
            job.desc.flags = asks ? WYE_DISPATCH_TIMED : 0;
            wye_pending out = 0;
            check_ok(t.owned(job.filled(), out));
            CHECK(t.report.device_ns == want);
            // An asynchronous dispatch, and two repeated requests of it. Below, the dispatch is a
            // step of a graph.
            Job resident(t.program, t.device);
            resident.param(1)
                .resident(0, t.rig.buffer(t.device, 12))
                .resident(1, t.rig.buffer(t.device, 12));
            resident.desc.flags = job.desc.flags;
            for (int round = 0; round < 3; ++round) {
                const wye_pending pending = t.rig.submitted(resident);
                check_ok(t.rig.wait(pending, UINT64_MAX, &t.report));
                CHECK(t.report.device_ns == want);
                CHECK(t.report.wall_ns >= t.report.enqueue_ns);
            }
            resident.desc.flags = 0;
            const wye_graph graph = t.rig.graph(t.device, {resident.filled()});
            wye_graph_run_desc run;
            WYE_INIT(run);
            run.flags = job.desc.flags;
            const wye_pending pending = t.rig.submitted(graph, run);
            check_ok(t.rig.wait(pending, UINT64_MAX, &t.report));
            CHECK(t.report.device_ns == want);
            // A transfer is timed in the same way.
            wye_transfer_desc fill;
            WYE_INIT(fill);
            fill.kind = WYE_TRANSFER_FILL;
            fill.flags = job.desc.flags;
            fill.buffer = resident.arguments[0].buffer;
            fill.size = 12;
            fill.pattern_size = 4;
            check_ok(t.rig.transfer(fill, &t.report));
            CHECK(t.report.device_ns == want);
            CHECK(t.report.bytes_filled == 12);
        }
    }
}

TEST_CASE("a failure gives no outputs, and leaves nothing behind") {
    Ready t;
    wye_pending out = 0;
    SUBCASE("a failure of the driver after the submit") {
        t.rig.driver.fail_wait = true;
        check_refused(t.owned(t.job().filled(), out), WYE_DRIVER, "fails");
    }
    SUBCASE("a submit that the driver refuses") {
        t.rig.driver.fail_submit = true;
        check_refused(t.owned(t.job().filled(), out), WYE_DRIVER, "refuses");
    }
    SUBCASE("a trap of the program") {
        t.rig.driver.kernel = [](const wye_dispatch_op& op) {
            auto* trap = FakeDriver::data<std::uint32_t>(op.trap);
            trap[0] = 7;
            trap[1] = 1;
        };
        t.program = t.rig.program(kTrap);
        Job job(t.program, t.device);
        job.in(0, t.x.data(), 12).out(1, nullptr, 0);
        check_refused(t.owned(job.filled(), out), WYE_TRAPPED, "code 7");
        CHECK(t.report.trap_code == 7);
    }
    CHECK(out == 0);
    check_ok(t.rig.flush(t.device));
}

TEST_CASE("a time limit returns control, and what cannot be stopped keeps the device busy") {
    Ready t;
    wye_pending out = 0;
    Job job = t.job();
    job.desc.timeout_ns = 3'600'000'000'000;
    check_ok(t.owned(job.filled(), out));  // the dispatch ends within its time limit
    CHECK(t.words(out) == Words{2, 3, 4});
    check_ok(t.free(out));
    out = 0;

    job.desc.timeout_ns = 1'000'000;
    SUBCASE("it cannot be stopped") {
        t.rig.driver.holds = true;
        check_refused(t.owned(job.filled(), out), WYE_TIMEOUT,
                      "a dispatch of `add` on fake:0 did not end within 1 ms; it still runs and "
                      "keeps fake:0 busy");
        check_refused(t.owned(t.job().filled(), out), WYE_DEVICE_BUSY, "fake:0 is still running");
        t.rig.driver.holds = false;
    }
    SUBCASE("it is stopped") {
        t.rig.driver.hang = true;
        t.rig.driver.can_cancel = true;
        check_refused(t.owned(job.filled(), out), WYE_TIMEOUT, "it was stopped");
        CHECK(t.rig.driver.cancels == 1);
    }
    CHECK(out == 0);
    check_ok(t.owned(t.job().filled(), out));
    CHECK(t.words(out) == Words{2, 3, 4});
    check_ok(t.free(out));
}

TEST_CASE("options that a dispatch with owned outputs does not take are refused by name") {
    Ready t;
    wye_pending out = 0;
    Job job = t.job();
    job.desc.flags = WYE_DISPATCH_BORROW;
    check_refused(t.owned(job.filled(), out), WYE_INVALID_ARGUMENT, "WYE_DISPATCH_BORROW");
    Words r(3);
    job = Job(t.program, t.device);
    job.param(1).in(0, t.x.data(), 12).out(1, r.data(), 12);
    check_refused(t.owned(job.filled(), out), WYE_INVALID_ARGUMENT, "argument 1 has storage");
    t.report.header.size = 4;
    check_refused(t.owned(t.job().filled(), out), WYE_INVALID_ARGUMENT, "wye_report");
    CHECK(wye_dispatch_owned(t.rig.context, nullptr, nullptr, &out, nullptr) ==
          WYE_INVALID_ARGUMENT);
    CHECK(wye_dispatch_owned(t.rig.context, &t.job().filled(), nullptr, nullptr, nullptr) ==
          WYE_INVALID_ARGUMENT);
    CHECK(out == 0);
    CHECK(t.rig.driver.submits == 0);
}

TEST_CASE("transfers that do not wait take the bytes of uploads, and own those of downloads") {
    for (const bool stages : {false, true}) {
        for (const bool borrows : {false, true}) {
            CAPTURE(stages);
            CAPTURE(borrows);
            Rig rig;
            rig.driver.stages = stages;
            rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 30;
            const wye_device device = rig.device();
            constexpr std::size_t kWords = 100'000;  // large enough for staging memory
            const wye_buffer buffer = rig.buffer(device, kWords * 4, "lasting");
            Words sent(kWords), got(kWords);
            for (std::size_t i = 0; i < kWords; ++i) sent[i] = static_cast<std::uint32_t>(i * 3);
            const Words want = sent;
            const auto submit = [&](std::uint32_t kind) {
                wye_transfer_desc desc;
                WYE_INIT(desc);
                desc.kind = kind;
                desc.flags = borrows ? WYE_DISPATCH_BORROW : 0;
                desc.buffer = buffer;
                desc.size = kWords * 4;
                if (kind == WYE_TRANSFER_UPLOAD) desc.source = sent.data();
                if (kind == WYE_TRANSFER_DOWNLOAD && borrows) desc.target = got.data();
                return rig.submitted(desc);
            };
            rig.driver.holds = true;
            const wye_pending up = submit(WYE_TRANSFER_UPLOAD);
            if (!borrows) sent.assign(kWords, 9);
            const wye_pending down = submit(WYE_TRANSFER_DOWNLOAD);
            check_refused(rig.free(buffer), WYE_BUFFER_IN_USE, "lasting");
            wye_bytes bytes{};
            check_refused(attempt([&](wye_error** e) {
                              return wye_pending_output(rig.context, down, 0, &bytes, e);
                          }),
                          WYE_NOT_READY, "download of buffer `lasting`");
            rig.driver.holds = false;
            wye_report report;
            WYE_INIT(report);
            check_ok(rig.wait(down, UINT64_MAX, &report));
            CHECK(report.bytes_downloaded == kWords * 4);
            CHECK(report.device == device);
            if (!borrows) {
                check_ok(attempt([&](wye_error** e) {
                    return wye_pending_output(rig.context, down, 0, &bytes, e);
                }));
                const auto* words = static_cast<const std::uint32_t*>(bytes.data);
                got.assign(words, words + bytes.size / 4);
            }
            CHECK(got == want);
            check_refused(attempt([&](wye_error** e) {
                              return wye_pending_output(rig.context, up, 0, &bytes, e);
                          }),
                          WYE_NOT_FOUND, "upload of buffer `lasting` owns no output");
            for (const wye_pending one : {up, down}) check_ok(rig.free_pending(one));
            const wye_counters counters = rig.counters();
            CHECK(counters.bytes_uploaded == kWords * 4);
            CHECK(counters.bytes_downloaded == kWords * 4);
            CHECK(counters.dispatches == 0);
            check_ok(rig.free(buffer));
        }
    }
}

TEST_CASE(
    "what transfers that do not wait do not take is refused, and failures come from the wait") {
    Ready t;
    const wye_buffer buffer = t.rig.buffer(t.device, 16, "lasting");
    Words words(4);
    wye_transfer_desc desc;
    WYE_INIT(desc);
    desc.kind = WYE_TRANSFER_DOWNLOAD;
    desc.buffer = buffer;
    desc.size = 16;
    desc.target = words.data();
    wye_pending out = 0;
    const auto submit = [&] { return t.rig.submit(desc, out); };
    check_refused(submit(), WYE_INVALID_ARGUMENT, "`target` is set");
    desc.target = nullptr;
    desc.flags = WYE_DISPATCH_BORROW;
    check_refused(submit(), WYE_INVALID_ARGUMENT, "pointer is null");
    desc.flags = WYE_DISPATCH_VARIANTS;
    check_refused(submit(), WYE_INVALID_ARGUMENT, "0x8");
    CHECK(out == 0);
    desc.flags = 0;
    desc.size = 0;
    check_ok(submit());
    wye_bytes bytes{};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_output(t.rig.context, out, 0, &bytes, e);  // OK, so the work has ended
    }));
    CHECK(bytes.size == 0);
    desc.size = 16;
    t.rig.driver.fail_submit = true;
    check_refused(submit(), WYE_DRIVER, "refuses");
    t.rig.driver.fail_submit = false;
    t.rig.driver.fail_wait = true;
    check_ok(submit());
    check_refused(t.rig.wait(out), WYE_DRIVER, "fails");
    check_refused(attempt([&](wye_error** e) {
                      return wye_pending_output(t.rig.context, out, 0, &bytes, e);
                  }),
                  WYE_DRIVER, "fails");
    t.rig.driver.fail_wait = false;
    check_ok(t.rig.free(buffer));
}

TEST_CASE("wrong descriptions of transfers are refused by name") {
    Ready t;
    const wye_buffer buffer = t.rig.buffer(t.device, 16), other = t.rig.buffer(t.device, 16);
    const Words words(4);
    const auto good = [&](std::uint32_t kind) {
        wye_transfer_desc out;
        WYE_INIT(out);
        out.kind = kind;
        out.buffer = buffer;
        out.size = 16;
        if (kind == WYE_TRANSFER_UPLOAD) out.source = words.data();
        if (kind == WYE_TRANSFER_COPY) out.source_buffer = other;
        if (kind == WYE_TRANSFER_FILL) out.pattern_size = 4;
        return out;
    };
    struct Row {
        const char* says;
        void (*change)(wye_transfer_desc&);
        std::uint32_t kind = WYE_TRANSFER_FILL;
    };
    const Row rows[] = {
        {"no kind 0", [](auto& d) { d.kind = 0; }},
        {"no kind 5", [](auto& d) { d.kind = 5; }},
        {"0x2", [](auto& d) { d.flags = 2; }},
        {"`reserved` is 1", [](auto& d) { d.reserved = 1; }},
        {"size 0", [](auto& d) { d.header.size = 0; }},
        {"members of an upload", [](auto& d) { d.source = &d; }},
        {"members of a download", [](auto& d) { d.target = &d; }},
        {"members of a copy", [](auto& d) { d.source_offset = 4; }},
        {"members of a fill", [](auto& d) { d.pattern_size = 4; }, WYE_TRANSFER_COPY},
        {"pattern of 3 bytes", [](auto& d) { d.pattern_size = 3; }},
        {"multiple of its 4-byte", [](auto& d) { d.offset = 2, d.size = 4; }},
        {"exceeds", [](auto& d) { d.offset = UINT64_MAX - 3, d.size = 8; }},
        {"exceeds", [](auto& d) { d.size = 20; }, WYE_TRANSFER_COPY},
        {"exceeds", [](auto& d) { d.source_offset = 4; }, WYE_TRANSFER_COPY},
        {"overlaps itself",
         [](auto& d) { d.source_buffer = d.buffer, d.source_offset = 4, d.size = 8; },
         WYE_TRANSFER_COPY},
        {"pointer is null", [](auto& d) { d.source = nullptr; }, WYE_TRANSFER_UPLOAD},
        {"pointer is null", [](auto& d) { (void)d; }, WYE_TRANSFER_DOWNLOAD},
    };
    for (const Row& row : rows) {
        CAPTURE(row.says);
        wye_transfer_desc desc = good(row.kind);
        row.change(desc);
        check_refused(t.rig.transfer(desc), WYE_INVALID_ARGUMENT, row.says);
    }
    CHECK(t.rig.driver.submits == 0);
    const wye_buffer far = t.rig.buffer(t.rig.device("fake:1"), 16);
    wye_transfer_desc desc = good(WYE_TRANSFER_COPY);
    desc.source_buffer = far;
    check_refused(t.rig.transfer(desc), WYE_WRONG_OWNER, "target");
}

}  // namespace
}  // namespace wye::exec::test::test_owned
