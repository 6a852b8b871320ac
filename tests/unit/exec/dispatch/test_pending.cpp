// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous dispatches on a driver that ends work when the test says so.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_pending {
namespace {

using Words = std::vector<std::uint32_t>;

// Jobs with host arguments. The pending dispatch owns the output.
struct Ready : Calls<Ready> {
    explicit Ready(registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.kernel = add_kernel;
    }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.prepared(device, kAdd);
    Words x = {1, 2, 3};

    Job job() {
        Job out(program, device);
        out.param(1).in(0, x.data(), 12).out(1, nullptr, 0);
        return out;
    }
    Outcome output(wye_pending pending, Words& out, std::uint32_t binding = 1) {
        wye_bytes bytes{};
        Outcome result = attempt([&](wye_error** e) {
            return wye_pending_output(rig.context, pending, binding, &bytes, e);
        });
        const auto* words = static_cast<const std::uint32_t*>(bytes.data);
        if (result.ok()) out.assign(words, words + bytes.size / 4);
        return result;
    }
};

TEST_CASE("a submit returns before the work has ended, and the handle owns the output") {
    Ready t;
    t.rig.driver.holds = true;
    const wye_pending pending = t.submitted(t.job());
    t.x = {7, 7, 7};  // the dispatch uses the copy that it took
    Words r;
    CHECK_FALSE(t.ended(pending));
    check_refused(t.output(pending, r), WYE_NOT_READY, "`add` has not ended");
    check_refused(t.wait(pending, 2'000'000), WYE_TIMEOUT,
                  "did not end within 2 ms, and is still in progress");

    t.rig.driver.holds = false;
    wye_report report;
    WYE_INIT(report);
    check_ok(t.wait(pending, UINT64_MAX, &report));
    CHECK(report.bytes_uploaded == 12);
    CHECK(report.bytes_downloaded == 12);
    CHECK(t.ended(pending));
    check_ok(t.output(pending, r));
    CHECK(r == Words{2, 3, 4});
    check_refused(t.output(pending, r, 0), WYE_NOT_FOUND, "owns no output with binding 0");
    check_ok(t.wait(pending));  // a second wait succeeds at once
    check_ok(t.free(pending));
    check_refused(t.wait(pending), WYE_STALE_HANDLE, "was freed");
}

TEST_CASE("several are in flight at once, and any may be waited for first") {
    Ready t;
    t.rig.driver.holds = true;
    std::vector<wye_pending> pending;
    for (std::uint32_t i = 0; i < 20; ++i) {
        t.x[0] = i;
        pending.push_back(t.submitted(t.job()));
    }
    CHECK(t.rig.driver.submits == 20);
    t.rig.driver.holds = false;
    for (std::uint32_t i = 20; i-- != 0;) {
        Words r;
        check_ok(t.wait(pending[i]));
        check_ok(t.output(pending[i], r));
        CHECK(r[0] == i + 1);
        check_ok(t.free(pending[i]));
    }
}

TEST_CASE("buffers are in use until the dispatch has ended, also unobserved") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 12, "pinned"), r = t.rig.buffer(t.device, 12);
    t.rig.upload(x, t.x);
    t.rig.driver.holds = true;
    Job job(t.program, t.device);
    const wye_pending pending = t.submitted(job.param(1).resident(0, x).resident(1, r));
    check_refused(t.rig.free(x), WYE_BUFFER_IN_USE, "pinned");
    check_ok(t.free(pending));
    check_refused(t.rig.free(x), WYE_BUFFER_IN_USE, "pinned");
    t.rig.driver.holds = false;
    check_ok(t.rig.free(x));
    CHECK(t.rig.download<std::uint32_t>(r, 3) == Words{2, 3, 4});
}

TEST_CASE("lent memory is written, not copied; freeing waits for it") {
    Ready t;
    Words r(3);
    Job job(t.program, t.device);
    job.param(1).in(0, t.x.data(), 12).out(1, r.data(), 12);
    wye_pending pending = 0;
    check_refused(t.submit(job, pending), WYE_INVALID_ARGUMENT,
                  "argument 1 has storage for its output");
    job.desc.flags |= WYE_DISPATCH_BORROW;
    t.rig.driver.holds = true;
    pending = t.submitted(job);
    auto freed = std::async(std::launch::async, [&] { return t.free(pending).status; });
    CHECK(freed.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    t.rig.driver.holds = false;
    CHECK(freed.get() == WYE_OK);
    CHECK(r == Words{2, 3, 4});
}

TEST_CASE("a trap comes from the wait; neither owned nor lent outputs are delivered") {
    Ready t;
    const wye_program program = t.rig.prepared(t.device, kTrap);
    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        auto* words = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
        words[0] = 7;
        words[1] = 2;
    };
    Job owned(program, t.device);
    const wye_pending first = t.submitted(owned.in(0, t.x.data(), 12).out(1, nullptr, 0));
    wye_report report;
    WYE_INIT(report);
    check_refused(t.wait(first, UINT64_MAX, &report), WYE_TRAPPED, "trapped with code 7");
    CHECK(report.trap_count == 2);
    CHECK(report.bytes_downloaded == 0);
    Words r = {9, 9, 9};
    check_refused(t.output(first, r), WYE_TRAPPED, "trapped");

    Job lent(program, t.device);
    lent.desc.flags |= WYE_DISPATCH_BORROW;
    const wye_pending second = t.submitted(lent.in(0, t.x.data(), 12).out(1, r.data(), 12));
    check_refused(t.wait(second), WYE_TRAPPED, "trapped with code 7");
    CHECK(r == Words{9, 9, 9});

    t.rig.driver.kernel = [](const wye_dispatch_op& op) {
        FakeDriver::data<std::uint32_t>(op.bindings[1])[0] = 5;
    };
    const wye_pending third = t.submitted(lent);
    check_ok(t.wait(third));
    CHECK(r[0] == 5);
}

TEST_CASE("a failure after the submit is returned by the wait, and the next dispatch works") {
    Ready t;
    t.rig.driver.fail_wait = true;
    const wye_pending pending = t.submitted(t.job());
    check_refused(t.wait(pending), WYE_DRIVER, "the fake fails");
    t.rig.driver.fail_wait = false;
    check_refused(t.wait(pending), WYE_DRIVER, "the fake fails");
    check_ok(t.wait(t.submitted(t.job())));

    t.rig.driver.holds = true;
    const wye_pending lost = t.submitted(t.job());
    t.rig.driver.lose(0);
    t.rig.driver.holds = false;
    CHECK(t.wait(lost).status == WYE_DEVICE_LOST);
}

TEST_CASE("above a limit a submit waits for the oldest, or says that the device is busy") {
    Ready t(registry::Config{{"pending.count", "2"}});
    t.rig.driver.holds = true;
    t.submitted(t.job());
    t.submitted(t.job());
    Job at_once = t.job();
    at_once.desc.flags |= WYE_DISPATCH_AT_ONCE;
    wye_pending pending = 0;
    check_refused(t.submit(at_once, pending), WYE_DEVICE_BUSY, "at most 2 may be in flight");
    auto third = std::async(std::launch::async, [&] { return t.submit(t.job(), pending).status; });
    CHECK(third.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    t.rig.driver.holds = false;
    CHECK(third.get() == WYE_OK);
    check_ok(t.wait(pending));
}

TEST_CASE("a submit that the device has no room for waits for work to end, in every form") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 12), r = t.rig.buffer(t.device, 12);
    const wye_buffer other = t.rig.buffer(t.device, 12);
    t.rig.upload(x, t.x);
    Job job(t.program, t.device);
    job.param(1).resident(0, x).resident(1, r);
    const wye_graph graph = t.rig.graph(0, {job.filled()});
    wye_graph_run_desc run;
    WYE_INIT(run);
    wye_pending pending = 0;
    const auto graph_run = [&](wye_error** e) {
        return wye_graph_run(t.rig.context, graph, &run, nullptr, e);
    };
    const auto graph_submit = [&](wye_error** e) {
        return wye_graph_submit(t.rig.context, graph, &run, &pending, e);
    };
    const auto dispatch_submit = [&](wye_error** e) {
        return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, e);
    };
    const auto upload = [&](wye_error** e) {
        return wye_buffer_upload(t.rig.context, other, {t.x.data(), 12}, e);
    };
    const std::pair<const char*, std::function<wye_status(wye_error**)>> forms[] = {
        {"graph run", graph_run},
        {"graph submit", graph_submit},
        {"dispatch, repeated",
         [&](wye_error** e) { return wye_dispatch(t.rig.context, &job.filled(), nullptr, e); }},
        {"dispatch submit", dispatch_submit},
        {"upload", upload},
    };
    for (const auto& form : forms) {
        const auto& call = form.second;
        CAPTURE(form.first);
        check_ok(attempt(call));  // prepares what the next calls repeat
        if (pending != 0) check_ok(t.free(std::exchange(pending, 0)));
        check_ok(attempt(call));
        if (pending != 0) check_ok(t.wait(pending));
        pending = 0;
        t.rig.driver.room = 1;
        t.rig.driver.unseen = 0;
        t.rig.driver.holds = true;
        const wye_pending first = t.submitted(t.job());
        const int refused = t.rig.driver.submits;
        auto second = std::async(std::launch::async, [&] { return attempt(call).status; });
        while (t.rig.driver.submits == refused) std::this_thread::yield();
        CHECK(second.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout);
        t.rig.driver.holds = false;
        CHECK(second.get() == WYE_OK);
        CHECK(t.rig.driver.submits == refused + 2);
        if (pending != 0) check_ok(t.wait(std::exchange(pending, 0)));
        check_ok(t.wait(first));
        t.rig.driver.room = INT32_MAX;
    }

    // A call that must not wait, or that has a time limit, reports that there is no room.
    t.rig.driver.room = 1;
    t.rig.driver.unseen = 0;
    t.rig.driver.holds = true;
    const wye_pending first = t.submitted(t.job());
    run.flags = WYE_DISPATCH_AT_ONCE;
    check_refused(attempt(graph_submit), WYE_DEVICE_BUSY, "the fake has no room");
    run.flags = 0;
    run.timeout_ns = 2'000'000;
    check_refused(attempt(graph_submit), WYE_TIMEOUT, "did not have room for another submit");
    job.desc.flags = WYE_DISPATCH_AT_ONCE;
    check_refused(attempt(dispatch_submit), WYE_DEVICE_BUSY, "the fake has no room");
    t.rig.driver.holds = false;
    check_ok(t.wait(first));
    check_ok(attempt(dispatch_submit));
    check_ok(t.wait(pending));

    // Without work in flight there is nothing to wait for.
    t.rig.driver.room = 0;
    check_refused(attempt(upload), WYE_DEVICE_BUSY, "the fake has no room");

    // The work that the upload waits for may fail, or the device may be lost.
    for (const bool lost : {false, true}) {
        CAPTURE(lost);
        t.rig.driver.room = 1;
        t.rig.driver.unseen = 0;
        t.rig.driver.holds = true;
        const wye_pending work = t.submitted(t.job());
        const int before = t.rig.driver.submits;
        auto waits = std::async(std::launch::async, [&] { return attempt(upload).status; });
        while (t.rig.driver.submits == before) std::this_thread::yield();
        if (lost) t.rig.driver.lose(0);
        t.rig.driver.fail_wait = !lost;
        t.rig.driver.holds = false;
        const wye_status status = waits.get();
        CHECK(status == (lost ? WYE_DEVICE_LOST : WYE_DRIVER));
        CHECK(t.wait(work).status == (lost ? WYE_DEVICE_LOST : WYE_DRIVER));
        t.rig.driver.fail_wait = false;
    }
}

TEST_CASE("the limit of owned bytes counts copies, and one dispatch may exceed it alone") {
    Ready t(registry::Config{{"pending.bytes", "30"}});
    t.rig.driver.holds = true;
    const wye_pending first = t.submitted(t.job());  // owns 24 bytes
    Job at_once = t.job();
    at_once.desc.flags |= WYE_DISPATCH_AT_ONCE;
    wye_pending pending = 0;
    check_refused(t.submit(at_once, pending), WYE_DEVICE_BUSY, "at most 30 bytes");
    t.rig.driver.holds = false;
    check_ok(t.wait(first));
    t.x.assign(100, 1);
    Job large(t.program, t.device);
    check_ok(t.wait(t.submitted(large.param(1).in(0, t.x.data(), 400).out(1, nullptr, 0))));

    t.rig.driver.config["pending.bytes"] = "none";
    CHECK(t.rig.driver.context() == nullptr);
}

TEST_CASE("a cancelled dispatch ends with CANCELLED where the device stops work") {
    Ready t;
    t.rig.driver.hang = true;
    t.rig.driver.can_cancel = true;
    const wye_pending pending = t.submitted(t.job());
    const auto cancel = [&] { return t.rig.cancel(pending); };
    check_ok(cancel());
    check_refused(t.wait(pending), WYE_CANCELLED,
                  "the dispatch of `add` on fake:0 was cancelled, and the device stopped it");
    check_ok(cancel());
    check_ok(t.wait(t.submitted(t.job())));
}

TEST_CASE("where the device cannot stop work, the result comes at once and the buffers stay busy") {
    Ready t;
    const wye_buffer x = t.rig.buffer(t.device, 12, "held");
    const wye_buffer r = t.rig.buffer(t.device, 12);
    t.rig.upload(x, t.x);
    Job job(t.program, t.device);
    job.param(1).resident(0, x).resident(1, r);
    t.rig.driver.holds = true;
    const wye_pending first = t.submitted(job), second = t.submitted(job);
    std::atomic<int> told{-1};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_notify(
            t.rig.context, first,
            [](void* user, wye_status status) { *static_cast<std::atomic<int>*>(user) = status; },
            &told, e);
    }));
    // Another thread waits with a limit that would never pass.
    Outcome late;
    std::thread waiter([&] { late = t.rig.wait(first, UINT64_C(3'600'000'000'000)); });
    check_ok(t.rig.cancel(first));
    waiter.join();
    check_refused(late, WYE_CANCELLED, "the dispatch of `add` on fake:0 was cancelled");
    check_refused(t.wait(first), WYE_CANCELLED, "until it ends");
    CHECK(t.ended(first));
    std::uint64_t index = 7;
    const wye_pending both[] = {second, first};
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_wait_any(t.rig.context, both, 2, UINT64_MAX, &index, e);
    }));
    CHECK(index == 1);
    while (told == -1) std::this_thread::yield();
    CHECK(told == WYE_CANCELLED);
    check_refused(t.rig.free(x), WYE_BUFFER_IN_USE, "held");

    // The second dispatch ends as usual. Then both buffers can be freed.
    t.rig.driver.holds = false;
    check_ok(t.wait(second));
    check_refused(t.wait(first), WYE_CANCELLED, "was cancelled");
    check_ok(t.rig.free(x));
    check_ok(t.rig.free(r));
}

TEST_CASE("operations that the host had not submitted before a cancel never run") {
    for (const bool too_late : {false, true}) {
        CAPTURE(too_late);
        Ready t;
        t.rig.driver.can_cancel = t.rig.driver.cancels_late = too_late;
        // The outputs of kTrap are read back in a second submit.
        t.program = t.rig.prepared(t.device, kTrap);
        Words lent(3, 77);
        Job job(t.program, t.device);
        job.in(0, t.x.data(), 12).out(1, lent.data(), 12);
        job.desc.flags = WYE_DISPATCH_BORROW;
        t.rig.driver.kernel = [](const wye_dispatch_op&) {};
        t.rig.driver.holds = true;
        const wye_pending pending = t.submitted(job);
        const int submits = t.rig.driver.submits;
        check_ok(t.rig.cancel(pending));
        // The dispatch uses memory of the caller, so it has not ended yet.
        CHECK(!t.ended(pending));
        t.rig.driver.holds = false;
        check_refused(t.wait(pending), WYE_CANCELLED, "was cancelled");
        CHECK(t.rig.driver.submits == submits);
        CHECK(lent == Words(3, 77));
    }
}

TEST_CASE("wait-any returns one that has ended") {
    Ready t;
    wye_pending pending[] = {t.submitted(t.job()), 0};
    t.rig.driver.holds = true;
    pending[1] = t.submitted(t.job());
    std::uint64_t index = 9;
    const auto any = [&](std::uint64_t count, std::uint64_t timeout_ns) {
        return attempt([&](wye_error** e) {
            return wye_pending_wait_any(t.rig.context, pending, count, timeout_ns, &index, e);
        });
    };
    check_refused(any(2, 3'000'000), WYE_TIMEOUT, "did not end within 3 ms");
    check_refused(any(0, 0), WYE_INVALID_ARGUMENT, "no dispatch to wait for");
    t.rig.driver.holds = false;
    check_ok(any(2, UINT64_MAX));
    CHECK(index == 0);
    pending[0] = 77;
    CHECK(any(2, 0).status == WYE_STALE_HANDLE);
}

struct Note {
    std::promise<wye_status> status;
    static void take(void* user, wye_status status) {
        static_cast<Note*>(user)->status.set_value(status);
    }
};

TEST_CASE("a notification comes once, for an end before or after it is asked for") {
    Ready t;
    t.rig.driver.holds = true;
    const wye_pending pending = t.submitted(t.job());
    Note early, late;
    const auto notify = [&](Note& note) {
        check_ok(attempt([&](wye_error** e) {
            return wye_pending_notify(t.rig.context, pending, &Note::take, &note, e);
        }));
    };
    notify(early);
    auto future = early.status.get_future();
    CHECK(future.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    t.rig.driver.holds = false;
    CHECK(future.get() == WYE_OK);
    notify(late);
    CHECK(late.status.get_future().get() == WYE_OK);
}

// Submits the next dispatch when one has ended, as a pipeline would.
struct Chain {
    Ready* t;
    int left;
    std::promise<wye_status> destroyed;
    static void next(void* user, wye_status status) {
        auto& self = *static_cast<Chain*>(user);
        CHECK(status == WYE_OK);
        if (--self.left != 0) return self.go();
        self.destroyed.set_value(
            wye_context_destroy_within(self.t->rig.context, UINT64_MAX, nullptr));
    }
    void go() {
        const wye_pending pending = t->submitted(t->job());
        CHECK(wye_pending_notify(t->rig.context, pending, &next, this, nullptr) == WYE_OK);
        CHECK(wye_pending_free(t->rig.context, pending, nullptr) == WYE_OK);
    }
};

TEST_CASE("a notification may submit, wait and free, but not destroy its context") {
    Ready t;
    Chain chain{&t, 10, {}};
    chain.go();
    CHECK(chain.destroyed.get_future().get() == WYE_INVALID_ARGUMENT);
    CHECK(t.rig.driver.submits == 10);
}

TEST_CASE("destroying the context waits for work in flight and its notifications") {
    auto t = std::make_unique<Ready>();
    t->rig.driver.holds = true;
    Note note;
    const wye_pending pending = t->submitted(t->job());
    CHECK(wye_pending_notify(t->rig.context, pending, &Note::take, &note, nullptr) == WYE_OK);
    FakeDriver& driver = t->rig.driver;
    std::thread releasing([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        driver.holds = false;
    });
    wye_context_destroy(std::exchange(t->rig.context, nullptr));
    auto future = note.status.get_future();
    CHECK(future.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    CHECK(future.get() == WYE_OK);
    releasing.join();
}

TEST_CASE("an abandoned context notifies nobody any more") {
    auto t = std::make_unique<Ready>();
    t->rig.driver.holds = true;
    std::atomic<int> calls = 0;
    const wye_pending pending = t->submitted(t->job());
    CHECK(wye_pending_notify(
              t->rig.context, pending,
              [](void* user, wye_status) { ++*static_cast<std::atomic<int>*>(user); }, &calls,
              nullptr) == WYE_OK);
    CHECK(wye_context_destroy_within(std::exchange(t->rig.context, nullptr), 10'000'000, nullptr) ==
          WYE_TIMEOUT);
    t->rig.driver.holds = false;
    for (int i = 0; i < 1000 && t->rig.driver.shutdowns == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(t->rig.driver.shutdowns == 1);
    CHECK(t->rig.driver.live_buffers == 0);
    CHECK(calls == 0);
}

TEST_CASE("wrong asynchronous requests are refused by name") {
    Ready t;
    wye_pending pending = 0;
    Job job = t.job();
    job.desc.flags |= UINT32_C(1) << 30U;
    check_refused(t.submit(job, pending), WYE_INVALID_ARGUMENT, "unknown bits 0x40000000");
    job = t.job();
    job.desc.flags |= WYE_DISPATCH_BORROW;
    check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, "are for asynchronous dispatches");
    check_refused(t.submit(Job(t.program, 5), pending), WYE_STALE_HANDLE, "device");
    check_refused(t.wait(t.program), WYE_WRONG_KIND, "a pending dispatch is expected");
    const wye_pending other = t.submitted(t.job());
    wye_context* second = t.rig.driver.context();
    check_refused(
        attempt([&](wye_error** e) { return wye_pending_wait(second, other, 0, nullptr, e); }),
        WYE_WRONG_OWNER, "belongs to context");
    wye_context_destroy(second);
    CHECK(wye_dispatch_submit(t.rig.context, nullptr, &pending, nullptr) == WYE_INVALID_ARGUMENT);
    CHECK(wye_pending_notify(t.rig.context, other, nullptr, nullptr, nullptr) ==
          WYE_INVALID_ARGUMENT);
}

TEST_CASE("threads submit, poll, wait and free the same work") {
    Ready t;
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int n = 0; n < 4; ++n)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                Job job = t.job();
                wye_pending pending = 0;
                std::uint32_t ended = 0;
                wye_bytes bytes{};
                if (wye_dispatch_submit(t.rig.context, &job.filled(), &pending, nullptr) !=
                        WYE_OK ||
                    wye_pending_poll(t.rig.context, pending, &ended, nullptr) != WYE_OK ||
                    wye_pending_wait(t.rig.context, pending, UINT64_MAX, nullptr, nullptr) !=
                        WYE_OK ||
                    wye_pending_output(t.rig.context, pending, 1, &bytes, nullptr) != WYE_OK ||
                    bytes.size != 12 || static_cast<const std::uint32_t*>(bytes.data)[2] != 4 ||
                    wye_pending_free(t.rig.context, pending, nullptr) != WYE_OK)
                    ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(t.rig.driver.most_in_submit == 1);
}

}  // namespace
}  // namespace wye::exec::test::test_pending
