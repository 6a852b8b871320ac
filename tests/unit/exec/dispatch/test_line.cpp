// SPDX-License-Identifier: Apache-2.0
//
// Dispatches that are submitted only after their call has returned, because their program is still
// being compiled, or because they come after such a dispatch. The compiler waits until the test
// lets it go on.
#include <atomic>
#include <future>
#include <thread>

#include "gate.hpp"
#include "rig.hpp"
#include "wye/device.h"
#include "wye/graph.h"

namespace wye::exec::test::test_line {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;
constexpr auto kLong = 60s;  // only a hang takes that long
constexpr std::uint64_t kShort = 5'000'000;

constexpr std::string_view kOther = R"(wye 1; program other; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k + 0u; } })";

constexpr std::string_view kLimit = R"(wye 1; program limited; workgroup 1;
input_output r: u32[3]; grid groups 1;
main { r[1] = r[1] + 1u; if r[1] == 3u { trap 7; } })";

struct Slow : Gate, Calls<Slow> {
    explicit Slow(registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.kernel = add_kernel;
        // The program `other` is compiled here, so it can run while `program` is being compiled.
        prepare(other);
        rig.upload(x, Words{1, 2, 3});
        rig.upload(r, Words{9, 9, 9});
        rig.driver.on_compile = [this] { pass(); };
    }
    ~Slow() {
        let_go();
        if (rig.context != nullptr) wye_context_destroy(rig.context);
        rig.context = nullptr;
    }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    wye_program other = rig.program(kOther);
    wye_buffer x = rig.buffer(device, 12, "x"), r = rig.buffer(device, 12, "r"),
               s = rig.buffer(device, 12, "s");

    void prepare(wye_program which) { check_ok(rig.prepare(device, which)); }
    // to = from + k
    Job job(wye_program which, wye_buffer from, wye_buffer to, std::uint32_t k) {
        Job out(which, device);
        out.param(k).resident(0, from).resident(1, to);
        return out;
    }
    Outcome cancel(wye_pending pending) { return rig.cancel(pending); }
    Words words(wye_buffer buffer) { return rig.download<std::uint32_t>(buffer, 3); }
};

TEST_CASE("the first submit returns before it compiles, and the result comes when it has") {
    Slow t;
    const int submits = t.rig.driver.submits;
    Words in = {5, 6, 7};
    Job host(t.program, t.device);
    host.param(1).in(0, in.data(), 12).out(1, nullptr, 0);
    wye_pending owned = 0;
    {
        Job copy = host;
        check_ok(t.submit(copy, owned));
    }
    const wye_pending resident = t.submitted(t.job(t.program, t.x, t.r, 1));
    in = {0, 0, 0};  // the input was copied
    t.await_entry();
    CHECK_FALSE(t.ended(owned));
    check_refused(t.wait(resident, kShort), WYE_TIMEOUT, "still in progress");
    CHECK(t.rig.driver.submits == submits);
    std::atomic<int> told{-1};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_notify(
            t.rig.context, resident,
            [](void* user, wye_status status) { *static_cast<std::atomic<int>*>(user) = status; },
            &told, e);
    }));
    t.let_go();
    wye_report report;
    WYE_INIT(report);
    check_ok(t.rig.wait(owned, UINT64_MAX, &report));
    CHECK(report.compiled == 1);
    CHECK(report.device == t.device);
    const wye_bytes bytes = t.rig.output(owned);
    REQUIRE(bytes.size == 12);
    CHECK(static_cast<const std::uint32_t*>(bytes.data)[2] == 8);
    check_ok(t.wait(resident));
    while (told == -1) std::this_thread::yield();
    CHECK(told == WYE_OK);
    CHECK(t.words(t.r) == Words{2, 3, 4});
    CHECK(t.rig.driver.programs == 2);  // `other`, and `program` only once
}

TEST_CASE(
    "a dispatch whose program is being compiled keeps its inputs, and a freed queue, to its end") {
    Slow t;
    std::vector<wye_pending> all;
    std::vector<wye_queue> queues;
    wye_queue_create_desc made;
    WYE_INIT(made);
    const auto queue = [&](wye_queue& out) { return t.rig.create(t.device, made, out); };
    for (std::uint32_t n = 0; n < 8; ++n) {
        const Words in(1000, n);
        Job job(t.program, t.device);
        check_ok(queue(job.desc.queue));
        job.param(1).in(0, in.data(), 4000).out(1, nullptr, 0);
        all.push_back(t.submitted(job));
        check_ok(attempt(
            [&](wye_error** e) { return wye_queue_free(t.rig.context, job.desc.queue, e); }));
    }
    t.await_entry();
    wye_queue ninth = 0;
    auto late = std::async(std::launch::async, [&] { return queue(ninth); });
    CHECK(late.wait_for(30ms) == std::future_status::timeout);
    t.let_go();
    check_ok(late.get());
    for (std::uint32_t n = 0; n < 8; ++n) {
        check_ok(t.wait(all[n]));
        const wye_bytes bytes = t.rig.output(all[n]);
        const auto* words = static_cast<const std::uint32_t*>(bytes.data);
        CHECK(Words(words, words + bytes.size / 4) == Words(1000, n + 1));
    }
}

TEST_CASE("a program that does not compile is told by the wait, and by checks before in the call") {
    Slow t;
    t.rig.driver.fail_compile = true;
    const wye_pending pending = t.submitted(t.job(t.program, t.x, t.r, 1));
    t.await_entry();
    t.let_go();
    check_refused(t.wait(pending), WYE_COMPILE_FAILED, "does not compile");
    CHECK(t.words(t.r) == Words{9, 9, 9});
    wye_pending none = 0;
    Job bad = t.job(t.program, t.x, t.r, 1);
    bad.arguments.pop_back();
    CHECK(t.submit(bad, none).status == WYE_INVALID_ARGUMENT);
    t.rig.driver.fail_compile = false;
    check_ok(t.wait(t.submitted(t.job(t.program, t.x, t.r, 1))));
    CHECK(t.words(t.r) == Words{2, 3, 4});
}

TEST_CASE("later asynchronous work on its buffers comes after it, and other work does not wait") {
    Slow t;
    const wye_pending first = t.submitted(t.job(t.program, t.x, t.r, 1));
    t.await_entry();
    // Compiled work that must come after the first dispatch: a dispatch that reads what the first
    // writes, a download of its result, and a fill of what the first reads.
    const wye_pending second = t.submitted(t.job(t.other, t.r, t.s, 10));
    wye_transfer_desc down;
    WYE_INIT(down);
    down.kind = WYE_TRANSFER_DOWNLOAD;
    down.buffer = t.s;
    down.size = 12;
    wye_pending third = 0, fourth = 0;
    check_ok(t.rig.submit(down, third));
    wye_transfer_desc fill;
    WYE_INIT(fill);
    fill.kind = WYE_TRANSFER_FILL;
    fill.buffer = t.x;
    fill.size = 12;
    fill.pattern_size = 4;
    check_ok(t.rig.submit(fill, fourth));
    // Work on other buffers goes on, blocking or not.
    const wye_buffer free = t.rig.buffer(t.device, 12), too = t.rig.buffer(t.device, 12);
    t.rig.upload(free, Words{4, 4, 4});
    check_ok(t.job(t.other, free, too, 1).run(t.rig));
    check_ok(t.wait(t.submitted(t.job(t.other, free, too, 2))));
    CHECK(t.words(too) == Words{6, 6, 6});
    for (const wye_pending one : {first, second, third, fourth}) CHECK_FALSE(t.ended(one));
    t.let_go();
    for (const wye_pending one : {fourth, third, second, first}) check_ok(t.wait(one));
    const wye_bytes bytes = t.rig.output(third, 0);
    CHECK(static_cast<const std::uint32_t*>(bytes.data)[0] == 12);
    CHECK(t.words(t.s) == Words{12, 13, 14});
    CHECK(t.words(t.x) == Words{0, 0, 0});
}

TEST_CASE("a blocking call on its buffers waits for it, and one with a time limit until then") {
    Slow t;
    const wye_pending first = t.submitted(t.job(t.program, t.x, t.r, 1));
    t.await_entry();
    Job limited = t.job(t.other, t.r, t.s, 10);
    limited.desc.timeout_ns = kShort;
    check_refused(limited.run(t.rig), WYE_TIMEOUT, "is not submitted yet");
    wye_pending owned = 0;
    check_refused(t.rig.owned(limited, nullptr, owned), WYE_TIMEOUT, "had not begun within 5 ms");
    auto read = std::async(std::launch::async, [&] { return t.words(t.r); });
    auto run =
        std::async(std::launch::async, [&] { return t.job(t.other, t.r, t.s, 10).run(t.rig); });
    CHECK(read.wait_for(30ms) == std::future_status::timeout);
    CHECK(run.wait_for(0ms) == std::future_status::timeout);
    CHECK_FALSE(t.ended(first));
    t.let_go();
    CHECK(read.get() == Words{2, 3, 4});
    check_ok(run.get());
    CHECK(t.words(t.s) == Words{12, 13, 14});
}

TEST_CASE("a blocking call that began before the dispatch does not wait for it") {
    Slow t;
    wye_pending first = 0;
    std::atomic<bool> asked{false};
    t.rig.driver.on_submit = [&] {  // called for the upload of the dispatch below
        if (asked.exchange(true)) return;
        std::async(std::launch::async, [&] {
            first = t.submitted(t.job(t.program, t.x, t.r, 1));
        }).get();
    };
    const Words in = {5, 6, 7};
    Job limited(t.other, t.device);
    limited.param(1).in(0, in.data(), 12).resident(1, t.r);
    limited.desc.timeout_ns = kShort;
    auto run = std::async(std::launch::async, [&] { return limited.run(t.rig); });
    CHECK(run.wait_for(kLong) == std::future_status::ready);
    t.let_go();
    check_ok(run.get());
    REQUIRE(first != 0);
    check_ok(t.wait(first));
    CHECK(t.words(t.r) == Words{2, 3, 4});
}

TEST_CASE("a repeated request and a graph come after it, too") {
    Slow t;
    Job twice = t.job(t.other, t.r, t.s, 10);
    for (int i = 0; i < 3; ++i) check_ok(t.wait(t.submitted(twice)));
    const wye_graph graph = t.rig.graph(t.device, {twice.filled()});
    wye_graph_run_desc run;
    WYE_INIT(run);
    const auto go = [&] { return t.rig.run(graph, run); };
    check_ok(go());
    const wye_pending first = t.submitted(t.job(t.program, t.x, t.r, 1));
    t.await_entry();
    const wye_pending second = t.submitted(twice);
    run.timeout_ns = kShort;
    check_refused(go(), WYE_TIMEOUT, "is still being compiled, or has fixpoint iterations left");
    run.timeout_ns = 0;
    run.flags = WYE_DISPATCH_AT_ONCE;
    wye_pending pending = 0;
    check_refused(t.rig.submit(graph, run, pending), WYE_DEVICE_BUSY, "must wait: earlier work");
    run.flags = 0;
    auto ran = std::async(std::launch::async, go);
    CHECK(ran.wait_for(30ms) == std::future_status::timeout);
    t.let_go();
    check_ok(ran.get());
    check_ok(t.wait(second));
    check_ok(t.wait(first));
    CHECK(t.words(t.s) == Words{12, 13, 14});
}

TEST_CASE("a dispatch whose program is being compiled holds its buffers, program and queue") {
    Slow t;
    wye_queue_create_desc made;
    WYE_INIT(made);
    wye_queue queue = 0;
    check_ok(t.rig.create(t.device, made, queue));
    Job job = t.job(t.program, t.x, t.r, 1);
    job.desc.queue = queue;
    const wye_pending pending = t.submitted(job);
    t.await_entry();
    check_refused(t.rig.free(t.x), WYE_BUFFER_IN_USE, "x");
    check_refused(t.rig.free(t.r), WYE_BUFFER_IN_USE, "r");
    check_ok(attempt([&](wye_error** e) { return wye_program_free(t.rig.context, t.program, e); }));
    check_ok(attempt([&](wye_error** e) { return wye_queue_free(t.rig.context, queue, e); }));
    check_refused(
        attempt([&](wye_error** e) { return wye_device_close(t.rig.context, t.device, e); }),
        WYE_DEVICE_BUSY, "work pending");
    t.let_go();
    check_ok(t.wait(pending));
    CHECK(t.words(t.r) == Words{2, 3, 4});
    check_ok(t.rig.free(t.x));
}

TEST_CASE("a dispatch whose program is being compiled waits for room only until its time limit") {
    // Returns false if the limit passed before the submit.
    const auto ends = [](std::uint64_t limit_ns) {
        Slow t;
        Job job = t.job(t.program, t.x, t.r, 1);
        job.desc.timeout_ns = limit_ns;
        const wye_pending limited = t.submitted(job);
        t.rig.driver.room = 1;
        t.rig.driver.unseen = 0;
        t.rig.driver.holds = true;
        const wye_pending endless = t.submitted(t.job(t.other, t.x, t.s, 1));
        t.let_go();
        const Outcome result = t.wait(limited);
        CHECK(result.status == WYE_TIMEOUT);
        t.rig.driver.holds = false;
        check_ok(t.wait(endless));
        return result.says("did not have room for another submit before the time-out");
    };
    std::uint64_t limit = kShort;
    while (!ends(limit)) limit *= 4;
}

TEST_CASE("a cancel and a time limit end it at once, and its buffers are free") {
    // Returns false if the limit passed before the compile began.
    const auto ends = [](std::uint64_t limit_ns) {
        const bool cancels = limit_ns == 0;
        CAPTURE(cancels);
        Slow t;
        const int submits = t.rig.driver.submits;
        Words lent(3, 7);
        Job job(t.program, t.device);
        job.param(1).resident(0, t.x).out(1, lent.data(), 12);
        job.desc.flags = WYE_DISPATCH_BORROW;
        job.desc.timeout_ns = limit_ns;
        const wye_pending pending = t.submitted(job);
        if (cancels) {
            t.await_entry();
            check_ok(t.cancel(pending));
        }
        check_refused(t.wait(pending), cancels ? WYE_CANCELLED : WYE_TIMEOUT,
                      cancels ? "it had not begun" : "had not begun within");
        CHECK(t.ended(pending));
        check_ok(t.rig.free(t.x));
        check_ok(t.rig.free_pending(pending));
        if (!t.compiles()) return false;
        // The device is still compiling.
        check_refused(
            attempt([&](wye_error** e) { return wye_device_close(t.rig.context, t.device, e); }),
            WYE_DEVICE_BUSY, "");
        CHECK(t.rig.driver.submits == submits);
        t.let_go();
        check_ok(t.rig.flush(t.device));
        CHECK(lent == Words(3, 7));
        CHECK(t.rig.driver.submits == submits);
        // The next dispatch uses what was compiled.
        const int programs = t.rig.driver.programs;
        CHECK(programs == 2);
        const wye_buffer again = t.rig.buffer(t.device, 12);
        check_ok(t.job(t.program, again, t.r, 1).run(t.rig));
        CHECK(t.rig.driver.programs == programs);
        return true;
    };
    CHECK(ends(0));
    std::uint64_t limit = kShort;
    while (!ends(limit)) limit *= 4;
}

TEST_CASE("a dispatch whose program is being compiled is in flight; AT_ONCE waits for no compile") {
    Slow t(registry::Config{{"pending.count", "1"}});
    Job job = t.job(t.program, t.x, t.r, 1);
    job.desc.flags = WYE_DISPATCH_AT_ONCE;
    const wye_pending first = t.submitted(job);
    t.await_entry();
    wye_pending second = 0;
    check_refused(t.submit(job, second), WYE_DEVICE_BUSY, "no room");
    t.let_go();
    check_ok(t.wait(first));
    check_ok(t.submit(job, second));
    check_ok(t.wait(second));
}

TEST_CASE("a flush and the end of the context wait for it") {
    Slow t;
    const wye_pending pending = t.submitted(t.job(t.program, t.x, t.r, 1));
    t.await_entry();
    wye_context* const context = t.rig.context;
    auto flushed = std::async(std::launch::async, [&] {
        return attempt([&](wye_error** e) { return wye_device_flush(context, t.device, e); });
    });
    CHECK(flushed.wait_for(30ms) == std::future_status::timeout);
    t.rig.context = nullptr;
    SUBCASE("with a limit") {
        t.let_go();
        check_ok(flushed.get());
        t.rig.context = context;
        check_ok(t.wait(pending));
        return;
    }
    SUBCASE("shut down") {
        auto gone = std::async(std::launch::async, [&] {
            return attempt(
                [&](wye_error** e) { return wye_context_shutdown(context, UINT64_MAX, e); });
        });
        CHECK(gone.wait_for(30ms) == std::future_status::timeout);
        t.let_go();
        check_ok(gone.get());
        (void)flushed.get();
        wye_context_destroy(context);
        CHECK(t.rig.driver.live_buffers == 0);
        CHECK(t.rig.driver.live_programs == 0);
    }
}

TEST_CASE("a device that is lost meanwhile is recovered, and nothing is submitted to the old one") {
    Slow t;
    const int submits = t.rig.driver.submits;
    const wye_pending pending = t.submitted(t.job(t.program, t.x, t.r, 1));
    const wye_pending behind = t.submitted(t.job(t.other, t.r, t.s, 1));
    t.await_entry();
    t.rig.driver.lose(0);
    std::uint32_t lost = 0;
    check_ok(attempt(
        [&](wye_error** e) { return wye_device_is_lost(t.rig.context, t.device, &lost, e); }));
    CHECK(lost == 1);
    wye_device fresh = 0;
    auto recovered = std::async(std::launch::async, [&] {
        return attempt(
            [&](wye_error** e) { return wye_device_recover(t.rig.context, t.device, &fresh, e); });
    });
    CHECK(recovered.wait_for(30ms) == std::future_status::timeout);
    t.let_go();
    check_ok(recovered.get());
    check_refused(t.wait(pending), WYE_DEVICE_LOST, "");
    check_refused(t.wait(behind), WYE_DEVICE_LOST, "");
    CHECK(t.rig.driver.submits == submits);
}

TEST_CASE("rounds of a program that can trap run in every form, and what follows waits for them") {
    Slow t;
    t.let_go();
    const wye_program program = t.rig.program(kLimit);
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        if (op.trap.buffer == nullptr) return add_kernel(op);
        auto* words = FakeDriver::data<std::uint32_t>(op.bindings[0]);
        auto* trap = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
        if (++words[1] != 3) return;
        trap[0] = 7;
        ++trap[1];
    };
    const auto rounds = [&](std::uint32_t count) {
        Job out(program, t.device);
        out.resident(0, t.r);
        out.desc.fixpoint_iterations = count;
        t.rig.upload(t.r, Words{1, 0, 1});
        return out;
    };
    for (int twice = 0; twice < 2; ++twice) {  // the first round compiles
        const wye_pending two = t.submitted(rounds(2));
        // This dispatch runs after the second iteration, although nobody waits for `two`.
        check_ok(t.wait(t.submitted(t.job(t.other, t.r, t.s, 0))));
        CHECK(t.words(t.s) == Words{1, 2, 1});
        check_ok(t.wait(two));
        const wye_pending ten = t.submitted(rounds(10));
        check_refused(t.wait(ten), WYE_TRAPPED, "trapped with code 7");
        CHECK(t.words(t.r) == Words{1, 3, 1});
    }
    Job limited = rounds(2);
    limited.desc.timeout_ns = 3'600'000'000'000;
    check_ok(limited.run(t.rig));
    CHECK(t.words(t.r) == Words{1, 2, 1});
    limited = rounds(9);
    limited.desc.timeout_ns = 3'600'000'000'000;
    check_refused(limited.run(t.rig), WYE_TRAPPED, "code 7");
    for (const std::uint64_t ns : {std::uint64_t{0}, std::uint64_t{3'600'000'000'000}}) {
        Words in = {4, 0, 4};
        Job host(program, t.device);
        host.in(0, in.data(), 12);
        host.desc.fixpoint_iterations = 2;
        host.desc.timeout_ns = ns;
        wye_pending owned = 0;
        check_ok(t.rig.owned(host, nullptr, owned));
        const wye_bytes bytes = t.rig.output(owned, 0);
        CHECK(static_cast<const std::uint32_t*>(bytes.data)[1] == 2);
    }
    // A batch of two items on the same buffer. The first item runs two iterations. The first
    // iteration of the second item traps.
    const wye_pipeline pipeline = t.rig.pipeline(t.device, program);
    Job one(0, 0);
    one.resident(0, t.r);
    one.desc.fixpoint_iterations = 2;
    t.rig.upload(t.r, Words{0, 0, 0});
    const wye_dispatch_desc items[] = {one.filled(), one.filled()};
    wye_batch_desc batch;
    WYE_INIT(batch);
    batch.pipeline = pipeline;
    batch.items = items;
    batch.item_count = 2;
    std::uint64_t completed = 9;
    check_refused(t.rig.batch(batch, &completed, nullptr), WYE_TRAPPED, "item 1 of the batch");
    CHECK(completed == 1);
    CHECK(t.words(t.r) == Words{0, 3, 0});
}

TEST_CASE("a cancel and a time limit end rounds between two of them") {
    for (const bool cancels : {true, false}) {
        CAPTURE(cancels);
        Slow t;
        t.let_go();
        const wye_program program = t.rig.program(kLimit);
        std::atomic<int> ran = 0;
        t.rig.driver.kernel = [&](const wye_dispatch_op& op) {
            if (op.trap.buffer == nullptr) return;
            std::this_thread::sleep_for(1ms);
            ++ran;
        };
        Job job(program, t.device);
        job.resident(0, t.r);
        job.desc.fixpoint_iterations = 60000;
        if (!cancels) job.desc.timeout_ns = 10 * kShort;
        const wye_pending pending = t.submitted(job);
        while (ran < 3 && !t.ended(pending)) std::this_thread::yield();
        if (cancels) check_ok(t.cancel(pending));
        CHECK(t.wait(pending).status == (cancels ? WYE_CANCELLED : WYE_TIMEOUT));
        check_ok(t.rig.flush(t.device));
        CHECK(ran < 60000);
        check_ok(t.rig.free(t.r));
    }
}

}  // namespace
}  // namespace wye::exec::test::test_line
