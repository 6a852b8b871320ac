// SPDX-License-Identifier: Apache-2.0
//
// Time limits of work that is not waited for, of graphs and of batches, on a driver that ends work
// when the test says so.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "gate.hpp"
#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_time_limits {
namespace {

using Words = std::vector<std::uint32_t>;
using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kShort = 5'000'000;         // ns
constexpr std::uint64_t kLong = 3'600'000'000'000;  // ns; nothing takes that long
constexpr std::uint64_t kSecond = 1'000'000'000;

struct Ready : Calls<Ready> {
    Ready() {
        rig.driver.kernel = add_kernel;
        check_ok(rig.prepare(device, program));
        rig.upload(x, Words{1, 2, 3});
        rig.upload(r, Words{9, 9, 9});
    }
    ~Ready() { rig.driver.holds = false; }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    wye_buffer x = rig.buffer(device, 12), r = rig.buffer(device, 12);
    Words host = {1, 2, 3};

    Job job(std::uint64_t timeout_ns, wye_pipeline through = 0) {
        Job out(through != 0 ? 0 : program, through != 0 ? 0 : device);
        out.desc.pipeline = through;
        out.param(1).resident(0, x).resident(1, r);
        out.desc.timeout_ns = timeout_ns;
        return out;
    }
    using Calls::submitted;
    wye_graph graph() {
        Job step = job(0);
        return rig.graph(device, {step.filled()}, "twice");
    }
    wye_pending submitted(wye_graph graph, std::uint64_t timeout_ns) {
        wye_graph_run_desc run;
        WYE_INIT(run);
        run.timeout_ns = timeout_ns;
        return rig.submitted(graph, run);
    }
    void flush() { check_ok(rig.flush(device)); }
    // Waits until the condition is true, for at most a minute.
    void await(const std::function<bool()>& condition) {
        for (const auto end = Clock::now() + std::chrono::minutes(1); !condition();
             std::this_thread::yield())
            REQUIRE(Clock::now() < end);
    }
};

// Ways to submit the same work with a time limit.
wye_pending dispatched(Ready& t, std::uint64_t ns) { return t.submitted(t.job(ns)); }
wye_pending with_host_bytes(Ready& t, std::uint64_t ns) {
    Job job(t.program, t.device);
    job.param(1).in(0, t.host.data(), 12).out(1, nullptr, 0);
    job.desc.timeout_ns = ns;
    return t.submitted(std::move(job));
}
wye_pending routed(Ready& t, std::uint64_t ns) {
    Job job = t.job(ns);
    job.desc.device = 0;
    return t.submitted(std::move(job));
}
wye_pending as_graph(Ready& t, std::uint64_t ns) { return t.submitted(t.graph(), ns); }
wye_pending piped(Ready& t, std::uint64_t ns) {
    return t.submitted(t.job(ns, t.rig.pipeline(t.device, t.program)));
}

constexpr std::pair<const char*, wye_pending (*)(Ready&, std::uint64_t)> kForms[] = {
    {"dispatch", dispatched},
    {"host bytes", with_host_bytes},
    {"no device named", routed},
    {"pipeline", piped},
    {"graph", as_graph}};

// Ways to learn the result of work that never ends by itself.
Outcome by_wait(Ready& t, wye_pending p) { return t.wait(p); }
Outcome by_long_wait(Ready& t, wye_pending p) { return t.wait(p, kLong); }
Outcome by_poll(Ready& t, wye_pending p) {
    t.await([&] { return t.ended(p); });
    return t.wait(p, 0);
}
Outcome by_wait_any(Ready& t, wye_pending p) {
    std::uint64_t index = 7;
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_wait_any(t.rig.context, &p, 1, UINT64_MAX, &index, e);
    }));
    CHECK(index == 0);
    return t.wait(p, 0);
}
Outcome by_notify(Ready& t, wye_pending p) {
    std::atomic<int> told{-1};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_notify(
            t.rig.context, p,
            [](void* user, wye_status status) { *static_cast<std::atomic<int>*>(user) = status; },
            &told, e);
    }));
    t.await([&] { return told != -1; });
    CHECK(told == WYE_TIMEOUT);
    return t.wait(p, 0);
}
Outcome by_output(Ready& t, wye_pending p) {
    wye_bytes bytes{};
    Outcome out;
    t.await([&] {
        out = attempt(
            [&](wye_error** e) { return wye_pending_output(t.rig.context, p, 1, &bytes, e); });
        return out.status != WYE_NOT_READY;
    });
    return out;
}

constexpr std::pair<const char*, Outcome (*)(Ready&, wye_pending)> kWays[] = {
    {"wait", by_wait},     {"wait with a limit", by_long_wait},
    {"poll", by_poll},     {"wait any", by_wait_any},
    {"notify", by_notify}, {"output", by_output}};

TEST_CASE(
    "work that the device cannot stop is TIMEOUT at once, however one asks, and keeps it busy") {
    for (const auto& [form, submit] : kForms) {
        for (const auto& [way, ask] : kWays) {
            const std::string named = std::string(form) + ", " + way;
            CAPTURE(named);
            Ready t;
            t.rig.driver.holds = true;
            const auto start = Clock::now();
            const wye_pending pending = submit(t, kShort);
            const Outcome result = ask(t, pending);
            CHECK(Clock::now() - start >= std::chrono::nanoseconds(kShort));
            check_refused(result, WYE_TIMEOUT,
                          "did not end within 5 ms; it still runs and keeps "
                          "fake:0 busy");
            CHECK(t.ended(pending));
            check_refused(t.wait(pending), WYE_TIMEOUT, "within 5 ms");
            // Until the work ends, other calls get DEVICE_BUSY, and the buffers of the work are in
            // use.
            check_refused(t.job(0).run(t.rig), WYE_DEVICE_BUSY, "is still running a dispatch of");
            if (submit != with_host_bytes) CHECK(t.rig.free(t.x).status == WYE_BUFFER_IN_USE);
            t.rig.driver.holds = false;
            t.flush();
            check_refused(t.wait(pending), WYE_TIMEOUT, "within 5 ms");
            check_ok(t.job(0).run(t.rig));
            CHECK(t.rig.download<std::uint32_t>(t.r, 3) == Words{2, 3, 4});
            check_ok(t.rig.free(t.x));
        }
    }
}

TEST_CASE("work that the device can stop is stopped, also if nobody waits for it") {
    for (const auto& [form, submit] : kForms) {
        const std::string named(form);
        CAPTURE(named);
        Ready t;
        t.rig.driver.can_cancel = true;
        t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
        const wye_pending pending = submit(t, kShort);
        t.await([&] { return t.rig.driver.cancels == 1; });
        t.rig.driver.kernel = add_kernel;
        check_refused(t.wait(pending), WYE_TIMEOUT, "did not end within 5 ms; it was stopped");
        check_ok(t.job(0).run(t.rig));
        CHECK(t.rig.download<std::uint32_t>(t.r, 3) == Words{2, 3, 4});
        CHECK(t.rig.driver.cancels == 1);
    }
}

TEST_CASE("threads that see one time limit pass stop the work once, or are told that it runs on") {
    for (const bool stops : {true, false}) {
        CAPTURE(stops);
        for (int round = 0; round < 20; ++round) {
            Ready t;
            t.rig.driver.can_cancel = stops;
            t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
            const wye_pending pending = dispatched(t, kShort);
            std::vector<Outcome> results(8);
            std::vector<std::thread> threads;
            for (Outcome& result : results)
                threads.emplace_back([&, out = &result] { *out = t.wait(pending); });
            for (std::thread& thread : threads) thread.join();
            for (const Outcome& result : results)
                check_refused(result, WYE_TIMEOUT,
                              stops ? "did not end within 5 ms; it was stopped"
                                    : "it still runs and keeps fake:0 busy");
            CHECK(t.rig.driver.cancels == 1);
            t.rig.driver.kernel = add_kernel;
            t.rig.driver.hang = false;
            t.flush();
            check_ok(t.job(0).run(t.rig));
        }
    }
}

TEST_CASE("time limits hold while a callback waits for the work that they end") {
    Ready t;
    const wye_pending first = t.submitted(t.job(0));
    check_ok(t.wait(first));
    t.rig.driver.can_cancel = t.rig.driver.holds = true;
    t.rig.driver.on_cancel = [&] { t.rig.driver.holds = false; };
    const wye_pending limited = dispatched(t, 10 * kShort);
    struct Flush {
        Ready& t;
        std::atomic<bool> done = false;
    } flush{t};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_notify(
            t.rig.context, first,
            [](void* user, wye_status) {
                Flush& self = *static_cast<Flush*>(user);
                self.t.flush();
                self.done = true;
            },
            &flush, e);
    }));
    t.await([&] { return flush.done.load(); });
    check_refused(t.wait(limited), WYE_TIMEOUT, "it was stopped");
}

TEST_CASE("work that ends in time has its own result, and its limit is forgotten") {
    for (const auto& [form, submit] : kForms) {
        const std::string named(form);
        CAPTURE(named);
        Ready t;
        for (int i = 0; i < 40; ++i) check_ok(t.wait(submit(t, kLong)));
        t.rig.driver.fail_wait = true;
        check_refused(t.wait(submit(t, kLong)), WYE_DRIVER, "the fake fails");
        t.rig.driver.fail_wait = false;
        // The limits have no later effect: work without a limit is not cut off, and the device is
        // not busy.
        t.rig.driver.holds = true;
        const wye_pending unlimited = submit(t, 0);
        check_refused(t.wait(unlimited, 2 * kShort), WYE_TIMEOUT, "still in progress");
        CHECK_FALSE(t.ended(unlimited));
        t.rig.driver.holds = false;
        check_ok(t.wait(unlimited));
        CHECK(t.rig.driver.cancels == 0);
    }
}

TEST_CASE("a cancel before the time limit stays a cancel, and one after it changes nothing") {
    // Returns false if the limit passed before the cancel.
    const auto stays = [](std::uint64_t limit_ns) {
        Ready t;
        t.rig.driver.holds = true;
        const wye_pending pending = dispatched(t, limit_ns);
        check_ok(t.rig.cancel(pending));
        if (t.wait(pending).status == WYE_TIMEOUT) return false;
        std::this_thread::sleep_for(std::chrono::nanoseconds(limit_ns));
        check_refused(t.wait(pending), WYE_CANCELLED, "was cancelled");
        return true;
    };
    std::uint64_t limit = kShort;
    while (!stays(limit)) limit *= 4;

    Ready t;
    t.rig.driver.holds = true;
    const wye_pending late = dispatched(t, kShort);
    check_refused(t.wait(late), WYE_TIMEOUT, "within 5 ms");
    check_ok(t.rig.cancel(late));
    check_refused(t.wait(late), WYE_TIMEOUT, "within 5 ms");
}

TEST_CASE(
    "work that the device stops only after its time limit was cancelled if a cancel came first") {
    const auto stays = [](std::uint64_t limit_ns) {
        Ready t;
        t.rig.driver.can_cancel = true;
        t.rig.driver.holds = true;
        const wye_pending pending = dispatched(t, limit_ns);
        check_ok(t.rig.cancel(pending));
        std::this_thread::sleep_for(std::chrono::nanoseconds(2 * limit_ns));
        t.rig.driver.holds = false;
        const Outcome result = t.wait(pending);
        if (result.status == WYE_TIMEOUT) return false;
        check_refused(result, WYE_CANCELLED, "was cancelled, and the device stopped it");
        check_ok(t.job(0).run(t.rig));
        return true;
    };
    bool stayed = false;
    for (std::uint64_t limit = kShort; !stayed && limit < kSecond; limit *= 4)
        stayed = stays(limit);
    CHECK(stayed);
}

TEST_CASE("a cancel while a time limit stops the work does not hide that the device is busy") {
    Ready t;
    Gate gate;
    std::atomic<bool> first = true;
    t.rig.driver.on_cancel = [&] {
        if (first.exchange(false)) gate.pass();
    };
    t.rig.driver.holds = true;
    const wye_pending pending = dispatched(t, kShort);
    gate.await_entry();
    check_ok(t.rig.cancel(pending));
    CHECK_FALSE(t.ended(pending));
    gate.let_go();
    check_refused(t.wait(pending), WYE_TIMEOUT, "it still runs and keeps fake:0 busy");
    check_refused(t.job(0).run(t.rig), WYE_DEVICE_BUSY, "is still running a dispatch of");
    t.rig.driver.holds = false;
    t.flush();
}

TEST_CASE("after a cancel that fails, the time limit holds") {
    // Returns false if the limit passed before the cancel.
    const auto holds = [](std::uint64_t limit_ns) {
        Ready t;
        t.rig.driver.holds = true;
        t.rig.driver.fail_cancel = true;
        const wye_pending pending = dispatched(t, limit_ns);
        const Outcome refused = t.rig.cancel(pending);
        check_refused(t.wait(pending), WYE_TIMEOUT, "it still runs and keeps fake:0 busy");
        t.rig.driver.holds = false;
        t.flush();
        if (refused.status == WYE_OK) return false;
        check_refused(refused, WYE_DRIVER, "the fake fails");
        return true;
    };
    bool held = false;
    for (std::uint64_t limit = kShort; !held && limit < kSecond; limit *= 4) held = holds(limit);
    CHECK(held);
}

TEST_CASE("a time limit that ends before cancelled work does is told what still runs") {
    Ready t;
    t.rig.driver.holds = true;
    const wye_pending pending = t.submitted(t.job(0));
    check_ok(t.rig.cancel(pending));
    check_refused(t.job(kShort).run(t.rig), WYE_TIMEOUT,
                  "it is still running the dispatch of `add`, which was cancelled");
    t.rig.driver.holds = false;
    t.flush();
    check_ok(t.job(kShort).run(t.rig));
}

TEST_CASE("work that borrows memory of the caller says TIMEOUT at its end") {
    Ready t;
    Words lent(3, 77);
    Job job(t.program, t.device);
    job.param(1).in(0, t.host.data(), 12).out(1, lent.data(), 12);
    job.desc.flags = WYE_DISPATCH_BORROW;
    job.desc.timeout_ns = kShort;
    t.rig.driver.holds = true;
    const wye_pending pending = t.submitted(job);
    // The device becomes busy when the work is given up.
    t.await([&] {
        // Slowly, since at most 1024 dispatches may be pending.
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        Job other = t.job(0);
        other.desc.flags = WYE_DISPATCH_AT_ONCE;  // does not wait for room
        wye_pending none = 0;
        return t.submit(other, none).says("is still running");
    });
    CHECK(t.rig.driver.cancels == 1);
    CHECK_FALSE(t.ended(pending));
    t.rig.driver.holds = false;
    check_refused(t.wait(pending), WYE_TIMEOUT, "within 5 ms");
    CHECK(t.wait(pending).status == WYE_TIMEOUT);
}

TEST_CASE("freed work with a time limit is stopped all the same, and nothing is kept of it") {
    Ready t;
    t.rig.driver.can_cancel = true;
    t.rig.driver.kernel = [&](const wye_dispatch_op&) { t.rig.driver.hang = true; };
    const wye_pending pending = dispatched(t, kShort);
    check_ok(t.rig.free_pending(pending));
    t.flush();  // would not return if the work was not stopped
    CHECK(t.rig.driver.cancels == 1);
    t.rig.driver.kernel = add_kernel;
    check_ok(t.job(0).run(t.rig));
}

TEST_CASE("a limit that ends while the submit waits for room is an error of the call") {
    Rig rig(registry::Config{{"pending.count", "1"}});
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 12), r = rig.buffer(device, 12);
    check_ok(rig.prepare(device, program));
    Job job(program, device);
    job.param(1).resident(0, x).resident(1, r);
    rig.driver.holds = true;
    wye_pending first = 0, second = 0;
    const auto submit = [&](wye_pending& out) { return rig.submit(job, out); };
    check_ok(submit(first));
    job.desc.timeout_ns = kShort;
    check_refused(submit(second), WYE_TIMEOUT, "did not have room");
    rig.driver.holds = false;
}

TEST_CASE("a graph that is run has a time limit, too") {
    Ready t;
    const wye_graph graph = t.graph();
    wye_graph_run_desc run;
    WYE_INIT(run);
    wye_report report;
    WYE_INIT(report);
    const auto go = [&] { return t.rig.run(graph, run, &report); };
    run.timeout_ns = kLong;
    check_ok(go());
    CHECK(report.device == t.device);
    CHECK(t.rig.download<std::uint32_t>(t.r, 3) == Words{2, 3, 4});
    run.timeout_ns = kShort;
    t.rig.driver.holds = true;
    check_refused(go(), WYE_TIMEOUT, "a dispatch of `twice` on fake:0 did not end within 5 ms");
    check_refused(go(), WYE_DEVICE_BUSY, "is still running a dispatch of `twice`");
    t.rig.driver.holds = false;
    t.flush();
    run.timeout_ns = 0;
    check_ok(go());
}

// ---- Batches ------------------------------------------------------------------------------

struct Batched : Ready {
    wye_pipeline pipe = rig.pipeline(device, program);
    wye_report report = [] {
        wye_report out;
        WYE_INIT(out);
        return out;
    }();
    std::uint64_t completed = 99;

    Outcome run(std::vector<wye_dispatch_desc> items, std::uint64_t timeout_ns,
                std::vector<wye_pending>* owners = nullptr) {
        wye_batch_desc desc;
        WYE_INIT(desc);
        desc.pipeline = pipe;
        desc.items = items.data();
        desc.item_count = items.size();
        desc.timeout_ns = timeout_ns;
        return attempt([&](wye_error** e) {
            if (owners == nullptr)
                return wye_pipeline_batch(rig.context, &desc, &completed, &report, e);
            owners->assign(items.size(), 77);
            return wye_pipeline_batch_owned(rig.context, &desc, owners->data(), &completed, &report,
                                            e);
        });
    }
};

TEST_CASE("a batch has one time limit: its items go on in order, or are stopped together") {
    Batched t;
    Job resident = t.job(0, t.pipe);
    Words out(3, 9), in = {5, 6, 7};
    Job lent(0, 0);
    lent.param(3).in(0, in.data(), 12).out(1, out.data(), 12);
    const std::vector<wye_dispatch_desc> items = {resident.filled(), lent.filled(),
                                                  resident.filled()};
    check_ok(t.run(items, kLong));
    CHECK(t.completed == 3);
    CHECK(out == Words{8, 9, 10});
    CHECK(t.report.bytes_downloaded == 12);
    CHECK(t.rig.download<std::uint32_t>(t.r, 3) == Words{2, 3, 4});

    out.assign(3, 9);
    t.rig.driver.holds = true;
    const auto start = Clock::now();
    check_refused(t.run(items, kShort), WYE_TIMEOUT,
                  "item 0 of the batch: a dispatch of `add` on fake:0 did not end within 5 ms");
    CHECK(Clock::now() - start >= std::chrono::nanoseconds(kShort));
    CHECK(t.completed == 0);
    // The work that still runs uses no memory of the caller.
    const Words kept = {1, 1, 1};
    out = kept;
    check_refused(t.run(items, 0), WYE_DEVICE_BUSY, "is still running");
    t.rig.driver.holds = false;
    t.flush();
    CHECK(out == kept);
    check_ok(t.run(items, 0));
    CHECK(out == Words{8, 9, 10});
}

TEST_CASE("rows and owned outputs have the limit of their batch") {
    Batched t;
    Job lent(0, 0);
    lent.param(3).in(0, t.host.data(), 12).out(1, nullptr, 0);
    std::vector<wye_pending> owners;
    check_ok(t.run({lent.filled(), lent.filled()}, kLong, &owners));
    const wye_bytes bytes = t.rig.output(owners[1]);
    CHECK(static_cast<const std::uint32_t*>(bytes.data)[2] == 6);
    Job shared(0, 0);
    shared.param(1);
    const wye_buffer row[] = {t.x, t.r};
    wye_rows_desc desc;
    WYE_INIT(desc);
    desc.pipeline = t.pipe;
    desc.dispatch = &shared.filled();
    desc.buffers = row;
    desc.row_count = 1;
    desc.row_size = 2;
    desc.timeout_ns = kLong;
    const auto rows = [&] {
        return attempt([&](wye_error** e) {
            return wye_pipeline_rows(t.rig.context, &desc, &t.completed, nullptr, e);
        });
    };
    check_ok(rows());
    CHECK(t.completed == 1);
    t.rig.driver.holds = true;
    desc.timeout_ns = kShort;
    check_refused(rows(), WYE_TIMEOUT, "item 0 of the batch");
    CHECK(t.completed == 0);
    t.rig.driver.holds = false;
    t.flush();
    t.rig.driver.holds = true;
    check_refused(t.run({lent.filled()}, kShort, &owners), WYE_TIMEOUT, "item 0 of the batch");
    CHECK(owners[0] == 0);
    t.rig.driver.holds = false;
    t.flush();
}

TEST_CASE("an item with a limit of its own is refused, and told whose limit to set") {
    Batched t;
    Job item = t.job(kSecond, t.pipe);
    for (const std::uint64_t whole : {std::uint64_t{0}, kLong}) {
        const Outcome refused = t.run({item.filled()}, whole);
        check_refused(refused, WYE_INVALID_ARGUMENT,
                      "item 0 of the batch: it has a time-out of 1000000000 ns");
        CHECK(refused.fix.find("set that of wye_batch_desc or wye_rows_desc") != std::string::npos);
        CHECK(t.completed == 0);
    }
}

}  // namespace
}  // namespace wye::exec::test::test_time_limits
