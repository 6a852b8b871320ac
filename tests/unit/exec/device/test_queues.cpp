// SPDX-License-Identifier: Apache-2.0
//
// Which native queue work goes to, and what it waits for there.
#include "device/held.hpp"

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
    const void* timeline = third.waits[0].timeline;  // the fake's queue is its own
    CHECK(timeline == other.queue);
    CHECK(third.waits[0].value == other.value);
    // Behind the third, which ran after both.
    const auto fourth = t.add(3, 2);
    CHECK(fourth.queue == third.queue);
    CHECK(fourth.waits.size() == (third.queue == second.queue ? 0 : 1));  // `2` is still read
}

TEST_CASE(
    "work that waits for the order only is submitted, also after a failure of what it waits for") {
    Ready t(4);
    t.add(0, 1);
    const auto second = t.add(2, 3);
    t.rig.driver.can_cancel = true;
    t.rig.driver.holds = false;
    t.rig.driver.hang = true;
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_cancel(t.rig.context, t.newest, e);  // nobody sees its end
    }));
    const auto third = t.add(1, 3);
    CHECK(third.queue != second.queue);
    CHECK(third.waits.empty());
    check_ok(attempt([&](wye_error** e) {
        return wye_pending_wait(t.rig.context, t.newest, UINT64_MAX, nullptr, e);
    }));
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
        t.rig.driver.holds = false;  // nobody has seen the end
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
    check_ok(attempt([&](wye_error** e) { return wye_device_flush(t.rig.context, t.device, e); }));
    const auto third = t.add(1, 3);
    CHECK(third.queue == first.queue);
    CHECK(third.waits.empty());
    CHECK(second.queue != first.queue);
}

TEST_CASE("an upload to an idle buffer does not go behind other work") {
    Ready t(4);
    const auto first = t.add(0, 1);
    t.rig.driver.holds = false;  // a transfer waits
    const std::vector<std::uint32_t> words = {1, 2, 3};
    t.rig.upload(t.buffers[2], words);
    CHECK(t.rig.driver.submitted.back().queue != first.queue);
}

TEST_CASE("one queue if the device or the configuration says so") {
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
