// SPDX-License-Identifier: Apache-2.0
//
// Which native queue work goes to, and which other work it waits for on the device.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "device/held.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_queues {
namespace {

TEST_CASE("work on other buffers goes to another queue, until all are busy") {
    Ready t(2);
    const auto first = t.add(0, 1), second = t.add(2, 3), third = t.add(4, 5);
    CHECK(first.queue != second.queue);
    CHECK((third.queue == first.queue || third.queue == second.queue));
    for (const auto& submit : {first, second, third}) CHECK(submit.waits.empty());
}

TEST_CASE("work goes behind the work whose buffer it reads or writes") {
    Ready t(4);
    const auto first = t.add(0, 1), second = t.add(2, 3);
    CHECK(t.add(1, 4).queue == first.queue);   // reads what the first writes
    CHECK(t.add(5, 3).queue == second.queue);  // writes what the second writes
    CHECK(t.add(6, 2).queue == second.queue);  // writes what the second reads
    for (const auto& submit : t.rig.driver.submitted) CHECK(submit.waits.empty());
}

TEST_CASE("two readers of one buffer do not wait for each other") {
    Ready t(4);
    CHECK(t.add(0, 1).queue != t.add(0, 2).queue);
}

TEST_CASE("work that needs two queues' work waits for one of them on the device") {
    Ready t(4);
    const auto first = t.add(0, 1), second = t.add(2, 3);
    const auto third = t.add(1, 3);
    REQUIRE(third.waits.size() == 1);
    const auto& other = third.queue == first.queue ? second : first;
    CHECK((third.queue == first.queue || third.queue == second.queue));
    const void* timeline =
        third.waits[0].timeline;  // a queue of the fake driver is its own timeline
    CHECK(timeline == other.queue);
    CHECK(third.waits[0].value == other.value);
    // The fourth reads buffer 3, which the third writes, so it goes behind the third.
    const auto fourth = t.add(3, 2);
    CHECK(fourth.queue == third.queue);
    CHECK(fourth.waits.size() ==
          (third.queue == second.queue ? 0 : 1));  // the fourth writes what the second reads
}

TEST_CASE(
    "work waits for other work to end, however it ends: it is submitted after a failure, too") {
    Ready t(4);
    t.add(0, 1);
    const auto second = t.add(2, 3);
    t.rig.driver.can_cancel = true;
    t.rig.driver.holds = false;
    t.rig.driver.hang = true;
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_cancel(t.rig.context, t.newest, e);  // its end was never queried
    }));
    const auto third = t.add(1, 3);
    REQUIRE(third.waits.size() == 1);
    CHECK(third.waits[0].flags == WYE_EVENT_ORDER_ONLY);
    CHECK(static_cast<const void*>(third.waits[0].timeline) == second.queue);
    CHECK(third.waits[0].value == second.value);
    check_ok(t.rig.wait(t.newest));
}

TEST_CASE("a repeated request in flight keeps its buffers, and does not run with a freed one") {
    for (const std::uint64_t queues : {1U, 4U}) {
        CAPTURE(queues);
        Ready t(queues);
        for (int i = 0; i < 4; ++i) t.add(0, 1);
        check_refused(t.rig.free(t.buffers[0]), WYE_BUFFER_IN_USE, "pending work");
        check_refused(t.rig.free(t.buffers[1]), WYE_BUFFER_IN_USE, "pending work");
        check_ok(t.rig.free(t.buffers[2]));
        t.add(0, 1);
        t.rig.driver.holds = false;  // no call asked whether the work ended
        check_ok(t.rig.free(t.buffers[0]));
        Job job(t.program, t.device);
        job.param(1).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
        const auto submits = t.rig.driver.submits.load();
        check_refused(attempt([&](wye_error** e) {
                          wye_pending pending = 0;
                          return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, e);
                      }),
                      WYE_STALE_HANDLE, "buffer");
        CHECK(t.rig.driver.submits == submits);
    }
}

TEST_CASE("nothing waits for work that has ended, and the first queue is used again") {
    Ready t(4);
    const auto first = t.add(0, 1), second = t.add(2, 3);
    t.rig.driver.holds = false;
    check_ok(t.rig.flush(t.device));
    const auto third = t.add(1, 3);
    CHECK(third.queue == first.queue);
    CHECK(third.waits.empty());
    CHECK(second.queue != first.queue);
}

TEST_CASE("an upload to an idle buffer does not go behind other work") {
    Ready t(4);
    const auto first = t.add(0, 1);
    t.rig.driver.holds = false;  // otherwise the transfer would wait for ever
    const std::vector<std::uint32_t> words = {1, 2, 3};
    t.rig.upload(t.buffers[2], words);
    CHECK(t.rig.driver.submitted.back().queue != first.queue);
}

// Holds the first native submit until `go`, or for two minutes.
struct Slow {
    explicit Slow(FakeDriver& driver) {
        driver.on_submit = [this] {
            if (submits.fetch_add(1) != 0) return;
            const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
            while (!go && !late) {
                late = std::chrono::steady_clock::now() > end;
                std::this_thread::yield();
            }
        };
    }
    void await() const {
        while (submits == 0) std::this_thread::yield();
    }
    std::atomic<int> submits{0};
    std::atomic<bool> go{false}, late{false};
};

// As `Ready::add`, but several threads may call it at once.
wye_status submit(const Ready& t, std::size_t x, std::size_t r) {
    Job job(t.program, t.device);
    job.param(1).resident(0, t.buffers[x]).resident(1, t.buffers[r]);
    wye_pending pending = 0;
    return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, nullptr);
}

TEST_CASE("a submit does not wait for a native submit to another queue") {
    Ready t(2);
    Slow slow(t.rig.driver);
    std::thread first([&] { CHECK(submit(t, 0, 1) == WYE_OK); });
    slow.await();
    const auto other = t.add(2, 3);
    CHECK(slow.submits == 2);
    const auto same = t.add(3, 4);  // reads what the other writes
    CHECK(same.queue == other.queue);
    // The submit in progress counts as a use.
    check_refused(t.rig.free(t.buffers[0]), WYE_BUFFER_IN_USE, "pending work");
    check_ok(t.rig.free(t.buffers[5]));
    CHECK_FALSE(slow.late);
    slow.go = true;
    first.join();
    CHECK(t.rig.driver.submitted.back().queue != other.queue);
    CHECK(t.rig.driver.most_in_submit == 2);
}

TEST_CASE("work on the buffers of a native submit in progress follows it") {
    Ready t(2);
    Slow slow(t.rig.driver);
    std::thread first([&] { CHECK(submit(t, 0, 1) == WYE_OK); });
    slow.await();
    std::atomic<bool> done{false};
    std::thread second([&] {
        CHECK(submit(t, 1, 2) == WYE_OK);
        done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_FALSE(done);
    CHECK(slow.submits == 1);
    slow.go = true;
    first.join();
    second.join();
    REQUIRE(t.rig.driver.submitted.size() == 2);
    const auto& before = t.rig.driver.submitted[0];
    const auto& behind = t.rig.driver.submitted[1];
    CHECK((behind.queue == before.queue || behind.waits.size() == 1));
}

TEST_CASE("a refused submit uses no buffer, and the next one gets its queue") {
    Ready t(2);
    t.rig.driver.fail_submit = true;
    Job job(t.program, t.device);
    job.param(1).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
    check_refused(attempt([&](wye_error** e) {
                      wye_pending pending = 0;
                      return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, e);
                  }),
                  WYE_DRIVER, "refuses");
    t.rig.driver.fail_submit = false;
    check_ok(t.rig.free(t.buffers[0]));
    const auto first = t.add(1, 2);
    const auto second = t.add(1, 3);  // this work reads buffer 1, as the first does
    CHECK(first.value == 1);
    CHECK(second.queue != first.queue);
    CHECK(second.waits.empty());
    // A submit that is refused while other work is in flight.
    t.rig.driver.fail_submit = true;
    job.arguments[0].buffer = t.buffers[4];
    job.arguments[1].buffer = t.buffers[5];
    check_refused(attempt([&](wye_error** e) {
                      wye_pending pending = 0;
                      return wye_dispatch_submit(t.rig.context, &job.filled(), &pending, e);
                  }),
                  WYE_DRIVER, "refuses");
    t.rig.driver.fail_submit = false;
    check_refused(t.rig.free(t.buffers[2]), WYE_BUFFER_IN_USE, "pending work");
}

TEST_CASE("executions of one graph in flight have commands of their own, up to a limit") {
    Rig rig;
    rig.driver.commands = true;
    std::uint32_t result = 0;
    rig.driver.kernel = [&](const wye_dispatch_op& op) {
        add_kernel(op);
        result = *FakeDriver::data<std::uint32_t>(op.bindings[1]);
    };
    rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 1;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    const wye_buffer x = rig.buffer(device, 12), r = rig.buffer(device, 12);
    rig.upload(x, std::vector<std::uint32_t>{1, 2, 3});
    Job job(program, device);
    job.param(1).resident(0, x).resident(1, r);
    const wye_graph graph = rig.graph(device, {job.filled()});
    CHECK(rig.driver.commands_made == 1);
    constexpr std::size_t kLimit = 16;
    std::set<const wye_command_object*> commands;
    rig.driver.holds = true;
    std::vector<wye_pending> all(kLimit + 4);
    wye_graph_run_desc run;
    WYE_INIT(run);
    std::uint64_t k = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        k = 10 * n;
        run.params = &k;
        run.param_count = 1;
        check_ok(rig.submit(graph, run, all[n]));
        CHECK(result == 1 + k);
        const wye_operation& last = rig.driver.operations.back();
        CHECK(last.kind == (n < kLimit ? WYE_OPERATION_EXECUTE : WYE_OPERATION_DISPATCH));
        if (n < kLimit) CHECK(commands.insert(last.u.execute.command).second);
    }
    rig.driver.holds = false;
    for (const wye_pending pending : all) check_ok(rig.wait(pending));
    // The commands are used again, and no others are made.
    check_ok(rig.run(graph, run));
    CHECK(rig.driver.operations.back().kind == WYE_OPERATION_EXECUTE);
    CHECK(rig.driver.commands_made == static_cast<int>(kLimit));
    wye_context_destroy(rig.context);
    rig.context = nullptr;
    CHECK(rig.driver.live_commands == 0);
}

TEST_CASE("there is one native queue if the device or the configuration says so") {
    {
        Ready t(1);
        CHECK(t.add(0, 1).queue == t.add(2, 3).queue);
    }
    Ready t(4, {{"queues.count", "1"}});
    CHECK(t.add(0, 1).queue == t.add(2, 3).queue);
    CHECK(t.rig.driver.queues == 1);
}

}  // namespace
}  // namespace wye::exec::test::test_queues
