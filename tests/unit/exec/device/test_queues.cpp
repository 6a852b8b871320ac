// SPDX-License-Identifier: Apache-2.0
//
// Which native queue work goes to, and what it waits for there.
#include "rig.hpp"

namespace wye::exec::test::test_queues {
namespace {

// A device with several queues, on which work does not end by itself.
struct Ready {
    explicit Ready(std::uint64_t queues, registry::Config config = {}) : rig(std::move(config)) {
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = queues;
        device = rig.device();
        program = rig.program(kAdd);
        for (wye_buffer& buffer : buffers) buffer = rig.buffer(device, 12);
        rig.driver.holds = true;
    }
    ~Ready() { rig.driver.holds = false; }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer buffers[8] = {};

    wye_pending newest = 0;

    // Submits r = x + 1 and returns what the driver got.
    FakeDriver::Submit add(std::size_t x, std::size_t r) {
        Job job(program, device);
        job.param(1).resident(0, buffers[x]).resident(1, buffers[r]);
        wye_pending pending = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_dispatch_submit(rig.context, &job.filled(), &pending, e);
        }));
        newest = pending;
        return rig.driver.submitted.back();
    }
};

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
