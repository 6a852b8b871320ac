// SPDX-License-Identifier: Apache-2.0
//
// Timelines that submits and the host signal, and the table functions for timelines of either kind.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "fake_queue.hpp"
#include "wye/sdk/timeline_slots.hpp"

namespace wye::sdk {
namespace {

using Signals = FakeTimeline::Signals;

wye_event event_of(TimelineObject& timeline, std::uint64_t value) {
    return {timeline.object(), value, 0, 0};
}

TEST_CASE("the host signals values, or fails them; a value is reached with a later one") {
    LossState loss;
    Signals timeline(loss);
    CHECK(timeline.reached(0));
    CHECK_FALSE(timeline.poll(3).value());
    CHECK(timeline.wait(3, 1000).error().code == Code::TIMEOUT);
    timeline.signal(3);
    CHECK(timeline.poll(2).value());
    CHECK(timeline.wait(3, 0).ok());
    timeline.fail(5, broken("the host gave up"));
    CHECK(timeline.poll(5).error().message == "the host gave up");
    CHECK(timeline.wait(4, 0).error().message == "the host gave up");
    CHECK(timeline.poll(3).value());
    timeline.signal(6);
    CHECK(timeline.poll(6).value());
    CHECK_FALSE(timeline.poll(5).ok());
    timeline.retire(5);
    CHECK(timeline.poll(5).value());
    loss.record(broken("gone"));
    CHECK(timeline.poll(6).value());
    CHECK(timeline.poll(7).error().code == Code::DEVICE_LOST);
    CHECK(timeline.wait(7, UINT64_MAX).error().code == Code::DEVICE_LOST);
}

TEST_CASE("a submit signals when it has ended, and its failure is that of what it signals") {
    LossState loss;
    FakeQueue queue(loss);
    Signals first(loss), second(loss);
    const wye_event both[] = {event_of(first, 10), event_of(second, 1)};
    const wye_event later = event_of(first, 20);
    CHECK(queue.submit({}, {}, both).value() == 1);
    CHECK(queue.submit({}, {}, {&later, 1}).value() == 2);
    queue.own.fails = 2;
    CHECK_FALSE(first.poll(10).value());
    queue.own.ended_up_to = 1;
    CHECK(first.poll(10).value());
    CHECK(second.reached(1));
    CHECK_FALSE(first.poll(11).value());
    CHECK(first.wait(20, UINT64_MAX).error().message == "failed at work");
    CHECK(first.poll(10).value());
    CHECK(queue.timeline().wait(2, 0).error().message == "failed at work");
}

TEST_CASE("a refused submit signals nothing, and its values can be signalled by another") {
    LossState loss;
    FakeQueue queue(loss);
    Signals timeline(loss);
    const wye_event signal = event_of(timeline, 1);
    const wye_operation copy = operation(WYE_OPERATION_COPY);
    CHECK_FALSE(queue.submit({&copy, 1}, {}, {&signal, 1}).ok());
    queue.own.ended_up_to = 9;
    CHECK_FALSE(timeline.poll(1).value());
    CHECK(timeline.place_of(1).error().code == Code::UNSUPPORTED);
    // The submit is refused after a part was queued, so its value fails, and so does what it
    // signals.
    const wye_operation parts[] = {operation(WYE_OPERATION_FILL), copy};
    CHECK(queue.submit(parts, {}, {&signal, 1}).value() == 1);
    CHECK(timeline.poll(1).error().message == "no copies");
    const wye_event again = event_of(timeline, 2);
    CHECK(queue.submit({}, {}, {&again, 1}).value() == 2);
    queue.own.ended_up_to = 2;
    CHECK(timeline.poll(2).value());
}

TEST_CASE("a submit waits for the submit that signals, and for nothing that nobody signals") {
    LossState loss;
    FakeQueue queue(loss), other(loss);
    Signals timeline(loss);
    const wye_event event = event_of(timeline, 7);
    CHECK(other.submit({}, {&event, 1}).error().code == Code::UNSUPPORTED);
    CHECK(other.steps == "begin abandon");
    const wye_event ahead = queue.event(1);
    CHECK(other.submit({}, {&ahead, 1}).error().code == Code::UNSUPPORTED);
    CHECK(queue.submit({}, {}, {&event, 1}).ok());
    CHECK(other.submit({}, {&ahead, 1}).ok());
    other.steps.clear();
    CHECK(other.submit({}, {&event, 1}).ok());
    CHECK(other.steps == "begin wait plan end");
    timeline.signal(8);
    const wye_event signalled = event_of(timeline, 8);
    other.steps.clear();
    CHECK(other.submit({}, {&signalled, 1}).ok());
    CHECK(other.steps == "begin plan end");
    timeline.fail(9, broken("the host gave up"));
    const wye_event failed = event_of(timeline, 9);
    CHECK(other.submit({}, {&failed, 1}).error().message == "the host gave up");
    timeline.fail(10, errors::cancelled());
    const wye_event cancelled = event_of(timeline, 10);
    CHECK(other.submit({}, {&cancelled, 1}).error().code == Code::CANCELLED);
}

TEST_CASE("where nobody knows how far the work is, what it would signal fails") {
    LossState loss;
    FakeQueue queue(loss);
    Signals timeline(loss);
    const wye_event event = event_of(timeline, 1);
    CHECK(queue.submit({}, {}, {&event, 1}).ok());
    queue.own.unknown = true;
    CHECK(timeline.poll(1).error().message == "nobody knows");
    CHECK(timeline.wait(1, 0).error().message == "nobody knows");
}

TEST_CASE("a wait sees a signal of another thread") {
    LossState loss;
    Signals timeline(loss);
    std::atomic<bool> waits = false;
    std::thread waiter([&] {
        waits = true;
        CHECK(timeline.wait(1, UINT64_MAX).ok());
    });
    while (!waits) std::this_thread::yield();
    timeline.signal(1);
    waiter.join();
}

struct FakePlugin {
    const wye_host_table& host;
};
struct FakeDevice {
    using Queue = FakeQueue;
    FakePlugin& plugin;
    LossState& loss;
};

TEST_CASE("the slots wait for all events or any, of both kinds of timelines") {
    using Slots = TimelineSlots<FakeDevice>;
    static const wye_host_table kHost{};
    FakePlugin plugin{kHost};
    LossState loss;
    FakeDevice device{plugin, loss};
    auto* object = reinterpret_cast<wye_device_object*>(&device);
    FakeQueue queue(loss);
    Signals timeline(loss);
    REQUIRE(queue.submit({}, {}).ok());
    const wye_event events[] = {queue.event(1), event_of(timeline, 1)};
    std::uint64_t index = 99;
    CHECK(Slots::query(object, &events[0], nullptr) == WYE_NOT_READY);
    CHECK(Slots::query(object, &events[1], nullptr) == WYE_NOT_READY);
    for (const std::uint32_t any : {0U, 1U})
        CHECK(Slots::wait(object, events, 2, any, 1000, &index, nullptr) == WYE_TIMEOUT);
    CHECK(Slots::wait(object, events, 1, 0, 1000, &index, nullptr) == WYE_TIMEOUT);
    CHECK(index == 99);
    CHECK(Slots::timeline_signal(object, &events[1], nullptr) == WYE_OK);
    CHECK(Slots::wait(object, events, 2, 0, 1000, &index, nullptr) == WYE_TIMEOUT);
    CHECK(Slots::wait(object, events, 2, 1, UINT64_MAX, &index, nullptr) == WYE_OK);
    CHECK(index == 1);
    queue.own.ended_up_to = 1;
    CHECK(Slots::wait(object, events, 2, 0, UINT64_MAX, nullptr, nullptr) == WYE_OK);
    CHECK(Slots::wait(object, events, 2, 1, UINT64_MAX, &index, nullptr) == WYE_OK);
    CHECK(index == 0);

    wye_error_desc failure{};
    failure.header = header_of(sizeof failure);
    failure.code = WYE_CANCELLED;
    failure.message = to_abi("given up");
    const wye_event failed[] = {queue.event(1), event_of(timeline, 2)};
    CHECK(Slots::timeline_fail(object, &failed[1], &failure, nullptr) == WYE_OK);
    CHECK(Slots::wait(object, failed, 2, 0, UINT64_MAX, &index, nullptr) == WYE_CANCELLED);
    CHECK(index == 1);
    CHECK(timeline.wait(2, 0).error().message == "given up");
    CHECK(Slots::retire(object, &failed[1], nullptr) == WYE_OK);
    CHECK(Slots::query(object, &failed[1], nullptr) == WYE_OK);
}

TEST_CASE("a timeline's description may ask for nothing that the plugin does not know") {
    using Slots = TimelineSlots<FakeDevice>;
    static const wye_host_table kHost{};
    FakePlugin plugin{kHost};
    LossState loss;
    FakeDevice device{plugin, loss};
    auto* object = reinterpret_cast<wye_device_object*>(&device);
    wye_header import{sizeof import, WYE_CHAIN_TIMELINE_IMPORT, nullptr};
    wye_timeline_desc desc{};
    desc.header = {sizeof desc, 0, &import};
    wye_timeline_object* out = nullptr;
    CHECK(Slots::timeline_create(object, &desc, &out, nullptr) == WYE_OK);
    Slots::timeline_destroy(object, out);
    // A critical entry is refused, also one without a type.
    for (const std::uint32_t type : {std::uint32_t{WYE_CHAIN_TIMELINE_IMPORT}, std::uint32_t{0}}) {
        import.type = type | WYE_CHAIN_CRITICAL;
        out = nullptr;
        CHECK(Slots::timeline_create(object, &desc, &out, nullptr) == WYE_UNSUPPORTED_EXTENSION);
        CHECK(out == nullptr);
    }
}

}  // namespace
}  // namespace wye::sdk
