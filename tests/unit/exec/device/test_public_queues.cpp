// SPDX-License-Identifier: Apache-2.0
//
// Public queues: what the driver gets, what is granted, and how their work is ordered.
#include "device/held.hpp"
#include "exec/device/buffer_use.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_public_queues {
namespace {

struct Wish {
    const char* label = "mine";
    std::uint32_t kind = WYE_QUEUE_ANY;
    std::int32_t priority = 0;
    std::uint32_t flags = 0;
};

Outcome create(const Rig& rig, wye_device device, const Wish& wish, wye_queue& out) {
    wye_queue_create_desc desc;
    WYE_INIT(desc);
    desc.label = wye_str(wish.label);
    desc.kind = wish.kind;
    desc.priority = wish.priority;
    desc.flags = wish.flags;
    return rig.create(device, desc, out);
}
wye_queue queue(const Ready& t, const Wish& wish = {}) {
    wye_queue out = 0;
    check_ok(create(t.rig, t.device, wish, out));
    return out;
}
wye_queue_description describe(const Ready& t, wye_queue queue) {
    wye_queue_description out;
    WYE_INIT(out);
    check_ok(
        attempt([&](wye_error** e) { return wye_queue_describe(t.rig.context, queue, &out, e); }));
    return out;
}
Outcome free_queue(const Ready& t, wye_queue queue) {
    return attempt([&](wye_error** e) { return wye_queue_free(t.rig.context, queue, e); });
}
Outcome flush(const Ready& t, wye_queue queue) {
    return attempt([&](wye_error** e) { return wye_queue_flush(t.rig.context, queue, e); });
}
wye_counters counters(const Ready& t) { return t.rig.counters(t.device); }
// Records r = x + 1.
wye_graph record(const Ready& t, std::size_t x, std::size_t r) {
    Job job(t.program, t.device);
    job.param(1).resident(0, t.buffers[x]).resident(1, t.buffers[r]);
    return t.rig.graph(t.device, {job.filled()});
}
// doctest's macros would print whole structures, so these functions give pointers to compare.
const void* place(const FakeDriver::Submit& submit) { return submit.queue; }
const void* place(const wye_event& event) {
    return event.timeline;
}  // a queue of the fake is its own timeline

TEST_CASE("a queue has a native queue of its own, which other work never goes to") {
    Ready t(8);
    const wye_queue mine = queue(t), other = queue(t);
    const auto first = t.add(0, 1, mine), second = t.add(2, 3, mine), third = t.add(4, 5, other);
    CHECK(place(first) == place(second));
    CHECK(place(third) != place(first));
    for (int i = 0; i < 6; ++i) {
        const auto pooled = t.add(6, 7);
        CHECK(place(pooled) != place(first));
        CHECK(place(pooled) != place(third));
    }
    CHECK(describe(t, mine).submits == 2);
    CHECK(describe(t, other).submits == 1);
    CHECK(describe(t, mine).shared == 0);
    CHECK(counters(t).queues_made == 2);
    CHECK(counters(t).queue_submits == 3);
}

TEST_CASE("work waits on the device for work of other queues that uses its buffers") {
    Ready t(8);
    const wye_queue mine = queue(t), other = queue(t);
    const auto writes = t.add(0, 1, mine);
    const auto reads = t.add(1, 2, other);  // this work reads buffer 1, which `mine` writes
    REQUIRE(reads.waits.size() == 1);
    CHECK(place(reads.waits[0]) == place(writes));
    CHECK(reads.waits[0].value == writes.value);
    const auto pooled = t.add(2, 3);  // without a public queue; it reads what `other` writes
    REQUIRE(pooled.waits.size() == 1);
    CHECK(place(pooled.waits[0]) == place(reads));
    const auto back = t.add(3, 0, mine);  // this work reads what `pooled` writes
    REQUIRE(back.waits.size() == 1);
    CHECK(place(back.waits[0]) == place(pooled));
    CHECK(t.add(5, 6, other).waits.empty());  // no pending work uses these buffers
}

TEST_CASE("a writer waits for readers on all queues, readers not for each other") {
    Ready t(8);
    const wye_queue a = queue(t), b = queue(t), c = queue(t);
    const auto first = t.add(0, 1, a), second = t.add(0, 2, b), pooled = t.add(0, 3);
    for (const auto& submit : {first, second, pooled}) CHECK(submit.waits.empty());
    CHECK(t.add(4, 0, c).waits.size() == 3);
}

TEST_CASE(
    "work from before the first queue is waited for, also on a device with one native queue") {
    for (const std::uint64_t natives : {std::uint64_t{1}, std::uint64_t{8}}) {
        CAPTURE(natives);
        Ready t(natives, {{"queues.count", "1"}});
        const auto early = t.add(0, 1);
        const auto late = t.add(1, 2, queue(t));
        if (natives == 1) {  // `early` and `late` use the same native queue
            CHECK(place(late) == place(early));
        } else {
            CHECK(place(late) != place(early));
            REQUIRE(late.waits.size() == 1);
            CHECK(place(late.waits[0]) == place(early));
            CHECK(late.waits[0].value == early.value);
        }
    }
}

TEST_CASE("kind, priority and label reach the driver, and what it gave is told") {
    struct Row {
        Wish asked;
        std::uint32_t driver_kind;
        std::int32_t driver_priority;
        std::uint32_t kind;
        std::int32_t priority;
    };
    // Drivers that grant less than the request, exactly the request, or another kind of queue.
    const Row rows[] = {
        {{"c", WYE_QUEUE_COMPUTE, 7}, WYE_QUEUE_COMPUTE, 5, WYE_QUEUE_COMPUTE, 5},
        {{"t", WYE_QUEUE_TRANSFER, -3}, WYE_QUEUE_TRANSFER, -3, WYE_QUEUE_TRANSFER, -3},
        {{"u", WYE_QUEUE_TRANSFER, 3}, WYE_QUEUE_ANY, 0, WYE_QUEUE_ANY, 0},
        {{"v", WYE_QUEUE_ANY, 0}, WYE_QUEUE_TRANSFER, 4, WYE_QUEUE_ANY, 0},
        {{"w", WYE_QUEUE_COMPUTE, 2}, WYE_QUEUE_TRANSFER, -4, WYE_QUEUE_ANY, 0},
    };
    Ready t(16);
    for (const Row& row : rows) {
        CAPTURE(row.asked.label);
        t.rig.driver.granted.kind = row.driver_kind;
        t.rig.driver.granted.priority = row.driver_priority;
        t.rig.driver.granted.native_index = 3;
        const wye_queue made = queue(t, row.asked);
        const wye_queue_desc& got = t.rig.driver.queue_wishes.back();
        CHECK(got.kind == row.asked.kind);
        CHECK(got.priority == row.asked.priority);
        const wye_queue_description told = describe(t, made);
        CHECK(std::string(told.label.data, told.label.size) == row.asked.label);
        CHECK(told.device == t.device);
        CHECK(told.kind == row.asked.kind);
        CHECK(told.priority == row.asked.priority);
        CHECK(told.granted_kind == row.kind);
        CHECK(told.granted_priority == row.priority);
        CHECK(told.native_index == 3);
    }
}

TEST_CASE("a device without native queues left shares one, or refuses by name") {
    Ready t(5);  // four native queues are for work without a public queue
    const wye_queue own = queue(t), shared = queue(t, {"second", WYE_QUEUE_COMPUTE, 3});
    CHECK(describe(t, own).shared == 0);
    const wye_queue_description told = describe(t, shared);
    CHECK(told.shared == 1);
    CHECK(told.granted_kind == WYE_QUEUE_ANY);
    CHECK(told.granted_priority == 0);
    const auto first = t.add(0, 1, shared), second = t.add(2, 3, shared);
    CHECK(place(first) == place(second));
    wye_queue none = 0;
    check_refused(create(t.rig, t.device, {"third", WYE_QUEUE_ANY, 0, WYE_QUEUE_OWN}, none),
                  WYE_LIMIT_EXCEEDED, "no native queue left");
    CHECK(none == 0);
    check_ok(free_queue(t, own));
    check_ok(create(t.rig, t.device, {"third", WYE_QUEUE_ANY, 0, WYE_QUEUE_OWN}, none));
    CHECK(describe(t, none).shared == 0);
}

TEST_CASE("a time limit holds while another queue keeps the native queue that both share busy") {
    Ready t(1);
    const wye_queue endless = queue(t), mine = queue(t);
    (void)t.add(0, 1, endless);
    std::uint32_t in[3] = {1, 2, 3}, out[3];
    Job job(t.program, t.device);
    job.param(1).in(0, in, 12).out(1, out, 12);
    job.desc.queue = mine;
    job.desc.timeout_ns = 5'000'000;
    check_refused(job.run(t.rig), WYE_TIMEOUT, "did not become free before the time-out");
}

TEST_CASE("the maximum number of queues live at once, and no more") {
    Ready t(64);
    std::vector<wye_queue> all;
    for (std::uint32_t i = 0; i < kMostPublicQueues; ++i) all.push_back(queue(t));
    wye_queue none = 0;
    check_refused(create(t.rig, t.device, {}, none), WYE_LIMIT_EXCEEDED, "already has 8 queues");
    const wye_device second = t.rig.device("fake:1");
    check_ok(create(t.rig, second, {}, none));  // a queue of another device
    check_ok(free_queue(t, all[5]));
    CHECK(describe(t, queue(t)).submits == 0);
}

TEST_CASE("a queue that is freed leaves its work in flight, which later work waits for") {
    Ready t(8);
    const wye_queue mine = queue(t);
    const auto first = t.add(0, 1, mine);
    const int live = t.rig.driver.live_queues;
    check_ok(free_queue(t, mine));
    CHECK(t.rig.driver.live_queues == live);
    check_refused(flush(t, mine), WYE_STALE_HANDLE, "queue");
    const auto reads = t.add(1, 2);
    REQUIRE(reads.waits.size() == 1);
    CHECK(place(reads.waits[0]) == place(first));
    // The number of the freed queue is used again, for another native queue.
    const wye_queue next = queue(t);
    const auto later = t.add(3, 4, next), behind = t.add(1, 5, next);
    CHECK(place(later) != place(first));
    CHECK(later.waits.empty());
    REQUIRE(behind.waits.size() == 1);
    CHECK(place(behind.waits[0]) == place(first));
    t.rig.driver.holds = false;
    check_ok(t.rig.wait(t.newest));
}

TEST_CASE("the native queue of an idle queue goes with it") {
    Ready t(8);
    t.rig.driver.holds = false;
    const wye_queue mine = queue(t);
    t.add(0, 1, mine);
    check_ok(flush(t, mine));
    const int live = t.rig.driver.live_queues;
    check_ok(free_queue(t, mine));
    CHECK(t.rig.driver.live_queues == live - 1);
    CHECK(t.add(1, 2).waits.empty());
}

TEST_CASE("a flush waits for the work of its queue, and for no other") {
    Ready t(8);
    t.rig.driver.holds = false;
    const wye_queue mine = queue(t), idle = queue(t);
    t.add(0, 1, mine);
    const wye_pending of_mine = t.newest;
    t.rig.driver.hang = true;  // waits end at once, and find that nothing has ended
    const int waits = t.rig.driver.waits;
    check_ok(flush(t, idle));
    CHECK(t.rig.driver.waits == waits);
    t.rig.driver.hang = false;
    check_ok(flush(t, mine));
    CHECK(t.rig.driver.waits > waits);
    CHECK(t.rig.ended(of_mine));
}

TEST_CASE("blocking dispatches, graphs and transfers run on the queue that they name") {
    Ready t(8);
    t.rig.driver.holds = false;
    t.rig.driver.kernel = add_kernel;
    const wye_queue mine = queue(t), copies = queue(t, {"copies", WYE_QUEUE_TRANSFER});
    const void* const native = place(t.add(6, 7, mine));
    const std::vector<std::uint32_t> words = {1, 2, 3};
    wye_transfer_desc up;
    WYE_INIT(up);
    up.kind = WYE_TRANSFER_UPLOAD;
    up.queue = copies;
    up.buffer = t.buffers[0];
    up.source = words.data();
    up.size = 12;
    wye_report report;
    WYE_INIT(report);
    check_ok(t.rig.transfer(up, &report));
    const void* const copying = place(t.rig.driver.submitted.back());
    CHECK(copying != native);
    CHECK(report.bytes_uploaded == 12);
    CHECK(report.device == t.device);

    for (int round = 0; round < 3; ++round) {  // later rounds are repeated requests
        Job job(t.program, t.device);
        job.param(5).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
        job.desc.queue = mine;
        check_ok(job.run(t.rig));
        CHECK(place(t.rig.driver.submitted.back()) == native);
        job.desc.queue = 0;
        check_ok(job.run(t.rig));
        CHECK(place(t.rig.driver.submitted.back()) != native);
    }
    CHECK(counters(t).dispatches_repeated >= 4);

    std::vector<std::uint32_t> got(3);
    wye_transfer_desc down;
    WYE_INIT(down);
    down.kind = WYE_TRANSFER_DOWNLOAD;
    down.queue = copies;
    down.buffer = t.buffers[1];
    down.target = got.data();
    down.size = 12;
    check_ok(t.rig.transfer(down));
    CHECK(place(t.rig.driver.submitted.back()) == copying);
    CHECK(got == std::vector<std::uint32_t>{6, 7, 8});

    const wye_graph graph = record(t, 1, 2);
    wye_graph_run_desc run;
    WYE_INIT(run);
    run.queue = mine;
    check_ok(t.rig.run(graph, run));
    CHECK(place(t.rig.driver.submitted.back()) == native);
    CHECK(t.rig.download<std::uint32_t>(t.buffers[2], 3) == std::vector<std::uint32_t>{7, 8, 9});
}

TEST_CASE("executions of a graph in flight on one queue follow each other without waits") {
    Ready t(8);
    const wye_queue mine = queue(t);
    const wye_graph graph = record(t, 0, 1);
    wye_graph_run_desc run;
    WYE_INIT(run);
    std::vector<wye_pending> all;
    const auto submit = [&] {
        wye_pending pending = 0;
        const Outcome out = t.rig.submit(graph, run, pending);
        if (pending != 0) all.push_back(pending);
        return out;
    };
    const auto end_all = [&] {
        t.rig.driver.holds = false;
        for (const wye_pending pending : all) check_ok(t.rig.wait(pending));
        all.clear();
        t.rig.driver.holds = true;
    };
    const void* places[2] = {};
    for (const std::size_t on : {0, 1, 0, 1}) {
        CAPTURE(on);
        run.queue = on == 0 ? 0 : mine;
        const std::uint64_t submits = describe(t, mine).submits;
        std::uint64_t value = 0;
        for (int n = 0; n < 5; ++n) {
            if (n == 3) {
                t.rig.driver.fail_submit = true;
                check_refused(submit(), WYE_DRIVER, "refuses");
                t.rig.driver.fail_submit = false;
            }
            check_ok(submit());
            const auto& sent = t.rig.driver.submitted.back();
            CHECK(sent.waits.empty());
            if (n != 0) CHECK(sent.value == value + 1);
            if (places[on] != nullptr) CHECK(place(sent) == places[on]);
            places[on] = place(sent);
            value = sent.value;
        }
        CHECK(describe(t, mine).submits == submits + (on == 0 ? 0 : 5));
        check_refused(t.rig.free(t.buffers[1]), WYE_BUFFER_IN_USE, "pending work");
        CHECK(place(t.add(2, 3)) !=
              place(t.rig.driver.submitted[t.rig.driver.submitted.size() - 2]));
        all.push_back(t.newest);
        end_all();
    }
    CHECK(places[0] != places[1]);
    // An execution waits for work of another queue on its buffers.
    run.queue = mine;
    const auto before = t.add(4, 0);
    check_ok(submit());
    REQUIRE(t.rig.driver.submitted.back().waits.size() == 1);
    CHECK(place(t.rig.driver.submitted.back().waits[0]) == place(before));
    CHECK(place(t.rig.driver.submitted.back()) == places[1]);
    t.rig.driver.holds = false;
}

TEST_CASE("a queue whose native queue failed goes on with a new one of the same wishes") {
    Ready t(8);
    t.rig.driver.holds = false;
    const wye_queue mine = queue(t, {"mine", WYE_QUEUE_COMPUTE, 4});
    Job job(t.program, t.device);
    job.param(1).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
    job.desc.queue = mine;
    check_ok(job.run(t.rig));
    const std::size_t made = t.rig.driver.queue_wishes.size();
    t.rig.driver.fail_wait = true;
    check_refused(job.run(t.rig), WYE_DRIVER, "fails");
    t.rig.driver.fail_wait = false;
    check_ok(job.run(t.rig));
    REQUIRE(t.rig.driver.queue_wishes.size() == made + 1);
    CHECK(t.rig.driver.queue_wishes.back().kind == WYE_QUEUE_COMPUTE);
    CHECK(t.rig.driver.queue_wishes.back().priority == 4);
}

TEST_CASE("a queue that is replaced with work in flight: later work waits for that") {
    Ready t(8);
    const wye_queue mine = queue(t);
    const auto slow = t.add(0, 1, mine);
    t.add(2, 3, mine);
    const wye_pending failing = t.newest;
    t.rig.driver.holds = false;
    t.rig.driver.fail_wait = true;
    check_refused(t.rig.wait(failing), WYE_DRIVER, "fails");
    t.rig.driver.fail_wait = false;
    t.rig.driver.holds = true;
    const auto next = t.add(4, 5, mine);
    CHECK(place(next) != place(slow));
    CHECK(next.value > slow.value);
}

TEST_CASE("wrong calls of queues are refused by name") {
    Ready t(8);
    t.rig.driver.holds = false;
    const Ready* const that = &t;
    const wye_queue mine = queue(t), copies = queue(t, {"copies", WYE_QUEUE_TRANSFER});
    const wye_queue freed = queue(t);
    check_ok(free_queue(t, freed));
    const wye_device second = t.rig.device("fake:1");
    wye_queue foreign = 0;
    check_ok(create(t.rig, second, {"foreign"}, foreign));

    SUBCASE("wishes") {
        wye_queue out = 0;
        check_refused(create(t.rig, t.device, {"k", 3}, out), WYE_INVALID_ARGUMENT, "no kind 3");
        check_refused(create(t.rig, t.device, {"f", 0, 0, 2}, out), WYE_INVALID_ARGUMENT, "0x2");
        check_refused(create(t.rig, mine, {}, out), WYE_WRONG_KIND, "queue");
        check_refused(create(t.rig, 0, {}, out), WYE_STALE_HANDLE, "device");
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        desc.reserved = 9;
        check_refused(t.rig.create(t.device, desc, out), WYE_INVALID_ARGUMENT, "9");
        desc = {};
        check_refused(t.rig.create(t.device, desc, out), WYE_INVALID_ARGUMENT, "size 0");
        WYE_INIT(desc);
        desc.label = {nullptr, 3};
        check_refused(t.rig.create(t.device, desc, out), WYE_INVALID_ARGUMENT, "label");
        CHECK(out == 0);
    }
    SUBCASE("the queue of a dispatch, a graph and a transfer") {
        struct Row {
            wye_queue queue;
            wye_status status;
            const char* says;
        };
        const Row rows[] = {{freed, WYE_STALE_HANDLE, "queue"},
                            {foreign, WYE_WRONG_OWNER, "queue"},
                            {t.buffers[0], WYE_WRONG_KIND, "buffer"},
                            {mine ^ (UINT64_C(1) << 48U), WYE_WRONG_OWNER, "context"}};
        Job job(t.program, t.device);
        job.param(1).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
        check_ok(job.run(t.rig));
        wye_graph_desc recorded;
        WYE_INIT(recorded);
        recorded.device = t.device;
        wye_graph_step recorded_step{&job.filled(), nullptr};
        recorded.steps = &recorded_step;
        recorded.step_count = 1;
        wye_graph graph = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_graph_create(that->rig.context, &recorded, &graph, e);
        }));
        const std::size_t before = t.rig.driver.submitted.size();
        for (const Row& row : rows) {
            CAPTURE(row.status);
            job.desc.queue = row.queue;
            check_refused(job.run(t.rig), row.status,
                          row.says);  // also refused as a repeated request
            wye_pending pending = 0;
            check_refused(that->rig.submit(job, pending), row.status, row.says);
            wye_graph_run_desc run;
            WYE_INIT(run);
            run.queue = row.queue;
            check_refused(that->rig.run(graph, run), row.status, row.says);
            check_refused(that->rig.submit(graph, run, pending), row.status, row.says);
            for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4}}) {
                wye_transfer_desc fill;
                WYE_INIT(fill);
                fill.kind = WYE_TRANSFER_FILL;
                fill.buffer = t.buffers[0];
                fill.size = size;
                fill.pattern_size = 4;
                fill.queue = row.queue;
                check_refused(that->rig.transfer(fill), row.status, row.says);
            }
            CHECK(pending == 0);
        }
        job.desc.queue = copies;
        check_refused(job.run(t.rig), WYE_INVALID_ARGUMENT, "for transfers");
        job.desc.queue = mine;
        wye_graph none = 0;
        recorded_step.dispatch = &job.filled();
        check_refused(attempt([&](wye_error** e) {
                          return wye_graph_create(that->rig.context, &recorded, &none, e);
                      }),
                      WYE_INVALID_ARGUMENT, "names a queue");
        CHECK(t.rig.driver.submitted.size() == before);
    }
    SUBCASE("calls of a queue") {
        wye_queue_description out;
        WYE_INIT(out);
        for (const auto& [handle, status] :
             {std::pair(freed, WYE_STALE_HANDLE), std::pair(wye_queue{0}, WYE_STALE_HANDLE),
              std::pair(wye_queue{t.buffers[0]}, WYE_WRONG_KIND)}) {
            const wye_queue wrong = handle;
            check_refused(free_queue(t, wrong), status, "");
            check_refused(flush(t, wrong), status, "");
            check_refused(attempt([&](wye_error** e) {
                              return wye_queue_describe(that->rig.context, wrong, &out, e);
                          }),
                          status, "");
        }
        out.header.size = 8;
        check_refused(attempt([&](wye_error** e) {
                          return wye_queue_describe(that->rig.context, mine, &out, e);
                      }),
                      WYE_INVALID_ARGUMENT, "wye_queue_description");
    }
    SUBCASE("after a loss") {
        t.rig.driver.lose(0);
        Job job(t.program, t.device);
        job.param(1).resident(0, t.buffers[0]).resident(1, t.buffers[1]);
        job.desc.queue = mine;
        check_refused(job.run(t.rig), WYE_DEVICE_LOST, "");
        wye_queue out = 0;
        check_refused(create(t.rig, t.device, {}, out), WYE_DEVICE_LOST, "lost");
        check_refused(flush(t, mine), WYE_DEVICE_LOST, "lost");
        CHECK(describe(t, mine).kind == WYE_QUEUE_ANY);
        check_ok(free_queue(t, mine));
    }
}

TEST_CASE("a driver that makes no queue: the error is its own, and nothing is left behind") {
    Ready t(64);
    const int live = t.rig.driver.live_queues;
    for (std::uint32_t i = 0; i < 2 * kMostPublicQueues; ++i) {
        t.rig.driver.fail_queue = i % 2 == 0;
        t.rig.driver.fail_queue_info = i % 2 != 0;
        wye_queue out = 0;
        check_refused(create(t.rig, t.device, {}, out), WYE_DRIVER, "the fake");
        CHECK(out == 0);
    }
    CHECK(t.rig.driver.live_queues == live);
    t.rig.driver.fail_queue = t.rig.driver.fail_queue_info = false;
    for (std::uint32_t i = 0; i < kMostPublicQueues; ++i) queue(t);
}

}  // namespace
}  // namespace wye::exec::test::test_public_queues
