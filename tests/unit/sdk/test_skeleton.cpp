// SPDX-License-Identifier: Apache-2.0
//
// The parts of the plugin skeleton: values, losses, handles, submits, the shape of a launch.
#include <doctest/doctest.h>

#include <map>

#include "fake_queue.hpp"
#include "wye/sdk/handle.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::sdk {
namespace {

TEST_CASE("a value is pending, reached or failed; values fail singly") {
    using State = ValueLog::State;
    ValueLog log;
    CHECK(log.state(0) == State::Reached);
    log.add(1);
    log.add(2);
    CHECK(log.state(1) == State::Pending);
    log.reach(1);
    CHECK(log.state(1) == State::Reached);
    log.fail(2, 2, broken("first"));
    CHECK(log.state(1) == State::Reached);
    CHECK(log.outcome(1).ok());
    CHECK(log.state(2) == State::Failed);
    log.reach(2);  // work that has ended stays failed
    CHECK(log.state(2) == State::Failed);
    CHECK(log.outcome(2).error().message == "first");
    CHECK(log.state(3) == State::Pending);
    CHECK(log.outcome(UINT64_MAX).ok());

    log.add(3);
    log.reach(3);
    CHECK(log.state(3) == State::Reached);
    log.fail_pending(log.newest(), broken("of nothing"));
    log.add(5);
    log.add(9);
    log.fail_pending(9, broken("second"));
    CHECK(log.state(3) == State::Reached);
    for (const std::uint64_t value : {4U, 5U, 9U}) {
        CHECK(log.state(value) == State::Failed);
        CHECK(log.failure(value)->message == "second");
    }
    CHECK(log.outcome(2).error().message == "first");
    log.add(10);
    CHECK(log.state(10) == State::Pending);
    log.reach(10);
    CHECK(log.state(10) == State::Reached);
}

TEST_CASE("failures are kept until they are retired, however many there are") {
    ValueLog log;
    constexpr std::uint64_t kMany = 4000;
    for (std::uint64_t v = 1; v <= kMany; ++v) {
        log.add(2 * v);
        log.fail(2 * v, 2 * v, broken("failed"));
        log.reach(2 * v);
    }
    CHECK_FALSE(log.outcome(2).ok());
    CHECK(log.outcome(2 + 1).ok());
    // Failures are retired in any order, and each alone.
    for (std::uint64_t v = kMany; v >= 2; v -= 2) log.retire(2 * v);
    CHECK(log.failures() == kMany / 2);
    for (std::uint64_t v = 1; v <= kMany; ++v) CHECK(log.outcome(2 * v).ok() == (v % 2 == 0));
    for (std::uint64_t v = 1; v <= kMany; v += 2) log.retire(2 * v);
    CHECK(log.failures() == 0);
    CHECK(log.outcome(2 * kMany - 2).ok());
}

TEST_CASE("a value of a range of failures is forgotten alone") {
    for (std::uint64_t retired = 1; retired <= 5; ++retired) {
        ValueLog log;
        log.add(9);
        log.fail(1, 5, broken("all"));
        log.fail(7, 7, broken("one"));
        log.reach(9);
        log.retire(retired);
        log.retire(6);
        for (std::uint64_t v = 1; v <= 9; ++v)
            CHECK(log.outcome(v).ok() == (v == retired || v == 6 || v > 7));
        CHECK(log.failure(7)->message == "one");
    }
}

TEST_CASE("adjacent failures share a range if their errors are equal, and keep their own if not") {
    ValueLog log;
    const auto fail = [&](std::uint64_t value, const char* what) {
        log.add(value);
        log.fail(value, value, broken(what));
        log.reach(value);
    };
    fail(1, "a");
    fail(2, "a");
    fail(3, "b");
    fail(5, "b");  // no submit has value 4, so 3 and 5 are not adjacent
    CHECK(log.failures() == 3);
    CHECK(log.failure(2)->message == "a");
    CHECK(log.failure(3)->message == "b");
    CHECK(log.state(4) == ValueLog::State::Reached);
    CHECK(log.failure(5)->message == "b");
    log.retire(1);  // the range goes on above this value
    CHECK(log.failure(2)->message == "a");
}

TEST_CASE("times are kept of the newest timed values") {
    ValueLog log;
    for (std::uint64_t v = 1; v <= ValueLog::kKeptTimes + 1; ++v) log.keep_times(v, {v * 10});
    CHECK(log.times(1).error().code == Code::UNSUPPORTED);
    CHECK(log.times(2).value().spent_ns == 20);
    CHECK(log.times(ValueLog::kKeptTimes + 1).value().spent_ns == (ValueLog::kKeptTimes + 1) * 10);
    CHECK(log.times(0).error().code == Code::UNSUPPORTED);
    CHECK(ValueLog().times(1).error().code == Code::UNSUPPORTED);
}

TEST_CASE("a device is lost by its first error, until it is back") {
    LossState loss;
    CHECK(loss.check().ok());
    loss.record(broken("first"));
    loss.record(broken("second"));
    CHECK(loss.lost());
    CHECK(loss.check().error().code == Code::DEVICE_LOST);
    CHECK(loss.check().error().message == "first");
    loss.clear();
    CHECK(!loss.lost());
    CHECK(loss.check().ok());
}

using Released = std::map<int, int>;
void release(Released& released, int object) { ++released[object]; }

TEST_CASE("an owned object is given back once, by its last owner") {
    Released released;
    {
        using Owned = Handle<Released, int, &release>;
        Owned a(released, 1);
        Owned b(std::move(a));
        CHECK(!a);
        Owned c;
        *c.receive(released) = 2;
        c = std::move(b);
        CHECK(c.get() == 1);
        CHECK(b.get() == 2);
        CHECK(released.empty());
    }
    CHECK(released == Released{{1, 1}, {2, 1}});
}

TEST_CASE("a submit goes its way; what moves nothing is no step of it") {
    LossState loss;
    FakeQueue queue(loss), other(loss);
    const wye_event waits[] = {{}, queue.event(0), other.event(0)};
    const wye_operation steps[] = {operation(WYE_OPERATION_UPLOAD),
                                   operation(WYE_OPERATION_COPY, 0),
                                   operation(WYE_OPERATION_DISPATCH), operation(WYE_OPERATION_FILL),
                                   operation(WYE_OPERATION_DOWNLOAD)};
    CHECK(queue.submit(steps, waits).value() == 1);
    CHECK(queue.steps == "begin wait plan upload dispatch fill download end");
    CHECK(queue.timeline().poll(1).value() == false);
    CHECK(queue.timeline().wait(1, 1000).error().code == Code::TIMEOUT);
    queue.own.ended_up_to = 1;
    CHECK(queue.timeline().wait(1, UINT64_MAX).ok());
    CHECK(queue.timeline().poll(1).value() == true);
}

TEST_CASE("a refusal before anything was queued fails the submit, and its value is used again") {
    LossState loss;
    FakeQueue queue(loss);
    const wye_operation copy = operation(WYE_OPERATION_COPY);
    CHECK(queue.submit({&copy, 1}, {}).error().message == "no copies");
    CHECK(queue.steps == "begin plan abandon");
    CHECK(queue.own.newest() == 0);
    CHECK(queue.submit({}, {}).value() == 1);
    CHECK_FALSE(queue.timeline().poll(1).value());
}

TEST_CASE("a refusal after a part was queued drains, and only the value of the submit fails") {
    LossState loss;
    FakeQueue queue(loss), other(loss);
    const wye_operation fill = operation(WYE_OPERATION_FILL);
    const wye_operation both[] = {fill, operation(WYE_OPERATION_COPY)};
    CHECK(queue.submit({&fill, 1}, {}).value() == 1);
    queue.steps.clear();
    CHECK(queue.submit(both, {}).value() == 2);
    CHECK(queue.steps == "begin plan fill drain abandon");
    CHECK(queue.submit({&fill, 1}, {}).value() == 3);
    CHECK(queue.timeline().wait(1, 0).ok());
    CHECK(queue.timeline().wait(2, 0).error().message == "no copies");
    CHECK(queue.timeline().poll(2).error().message == "no copies");
    CHECK_FALSE(queue.timeline().poll(3).value());
    queue.own.ended_up_to = 3;
    CHECK(queue.timeline().poll(3).value());

    // A failed value fails the submits that wait for it, also on its own queue.
    const wye_event failed = queue.event(2);
    const wye_event fine = queue.event(3);
    for (FakeQueue* waiting : {&queue, &other}) {
        waiting->steps.clear();
        CHECK(waiting->submit({&fill, 1}, {&failed, 1}).error().message == "no copies");
        CHECK(waiting->steps == "begin abandon");
        CHECK(waiting->submit({&fill, 1}, {&fine, 1}).ok());
    }
}

TEST_CASE("a wait that only orders ends with its value, whether that was reached or failed") {
    LossState loss;
    FakeQueue queue(loss), other(loss);
    const wye_operation fill = operation(WYE_OPERATION_FILL);
    const wye_operation both[] = {fill, operation(WYE_OPERATION_COPY)};
    REQUIRE(other.submit(both, {}).value() == 1);  // fails
    REQUIRE(other.submit({&fill, 1}, {}).value() == 2);
    const auto order = [&](FakeQueue& of, std::uint64_t value) {
        wye_event out = of.event(value);
        out.flags = WYE_EVENT_ORDER_ONLY;
        return out;
    };
    const wye_event waits[] = {order(other, 1), order(other, 2)};
    CHECK(queue.submit({&fill, 1}, waits).value() == 1);
    CHECK(queue.steps == "begin wait plan fill end");  // one wait: value 1 has ended
    other.steps.clear();
    CHECK(other.submit({&fill, 1}, waits).value() == 3);
    CHECK(other.steps == "begin plan fill end");  // a queue does not wait for its own work
    const wye_event early = order(other, 4);
    CHECK(queue.submit({&fill, 1}, {&early, 1}).error().code == Code::UNSUPPORTED);
    loss.record(broken("gone"));
    CHECK(queue.submit({&fill, 1}, {&waits[0], 1}).error().code == Code::DEVICE_LOST);
}

TEST_CASE("flags and operations that are not known are refused before anything is queued") {
    LossState loss;

    FakeQueue unknown(loss);
    wye_operation marked = operation(WYE_OPERATION_FILL);
    marked.flags = 4;
    CHECK(unknown.submit({&marked, 1}, {}).error().message.find("an operation (flags 4)") !=
          std::string::npos);
    wye_operation launch = operation(WYE_OPERATION_DISPATCH);
    launch.u.dispatch.flags = 8;
    CHECK(unknown.submit({&launch, 1}, {}).error().code == Code::UNSUPPORTED);
    CHECK(unknown.steps.empty());  // nothing was begun
    wye_event odd_wait = unknown.event(0);
    odd_wait.flags = 2;
    CHECK(unknown.submit({}, {&odd_wait, 1}).error().message.find("flags of a wait (flags 2)") !=
          std::string::npos);
    odd_wait = unknown.event(0);
    odd_wait.reserved = 7;
    CHECK(unknown.submit({}, {&odd_wait, 1}).error().message.find("must be 0 is 7") !=
          std::string::npos);
    odd_wait = unknown.event(0);
    odd_wait.flags = WYE_EVENT_ORDER_ONLY;  // a flag that no signal has
    CHECK(unknown.submit({}, {}, {&odd_wait, 1}).error().message.find("a signal (flags 1)") !=
          std::string::npos);
    CHECK(unknown.steps.find("wait") == std::string::npos);
    CHECK(unknown.steps.find("plan") == std::string::npos);  // nothing was queued
    const wye_operation odd = operation(77);
    CHECK(unknown.submit({&odd, 1}, {}).error().code == Code::UNSUPPORTED);
    CHECK(unknown.submit({}, {}).ok());
}

TEST_CASE("a submit that runs out of memory in the middle is taken back") {
    LossState loss;
    FakeQueue queue(loss);
    queue.out_of_memory = true;
    const wye_operation both[] = {operation(WYE_OPERATION_FILL), operation(WYE_OPERATION_DISPATCH)};
    CHECK(queue.submit({&both[1], 1}, {}).error().code == Code::OUT_OF_MEMORY);
    CHECK(queue.steps == "begin plan abandon");
    queue.steps.clear();
    CHECK(queue.submit(both, {}).value() == 1);
    CHECK(queue.steps == "begin plan fill drain abandon");
    CHECK(queue.timeline().wait(1, 0).error().code == Code::OUT_OF_MEMORY);
    CHECK(queue.submit({}, {}).value() == 2);
}

TEST_CASE("pending values are lost with the device, reached values stay reached") {
    LossState loss;
    FakeQueue queue(loss);
    REQUIRE(queue.submit({}, {}).ok());
    REQUIRE(queue.submit({}, {}).ok());
    queue.own.ended_up_to = 1;
    REQUIRE(queue.timeline().wait(1, 0).ok());
    loss.record(broken("gone"));
    CHECK(queue.timeline().wait(1, 0).ok());
    CHECK(queue.timeline().poll(2).error().code == Code::DEVICE_LOST);
    CHECK(queue.submit({}, {}).error().code == Code::DEVICE_LOST);
}

TEST_CASE("what is pending is settled once, in order, and a failure is that value's alone") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps, true);
    for (int i = 0; i < 5; ++i) timeline.add();
    CHECK(timeline.event_for(2).value() == 2);
    CHECK(timeline.settled.empty());
    timeline.ended_up_to = 2;
    CHECK(timeline.poll(2).value());
    CHECK(timeline.settled == "1 2 ");
    CHECK(timeline.reached(1));
    CHECK(timeline.event_for(1).value() == 0);  // nothing to wait for
    CHECK(timeline.times(2).value().spent_ns == 20);
    timeline.fails = 4;
    timeline.ended_up_to = 5;
    CHECK(timeline.wait(3, 0).ok());
    CHECK(timeline.poll(5).value());
    CHECK(timeline.settled == "1 2 3 4 5 ");
    CHECK(timeline.wait(3, 0).ok());
    CHECK(timeline.wait(4, 0).error().message == "failed at work");
    CHECK(timeline.times(4).error().code == Code::UNSUPPORTED);
    CHECK(timeline.times(5).value().spent_ns == 50);
    timeline.retire(4);
    CHECK(timeline.wait(4, 0).ok());
    CHECK(steps.empty());
}

TEST_CASE("values may leave gaps; one in a gap is reached with the submit before it") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps, true);
    for (const int value : {3, 10, 256 * 7, 256 * 8}) timeline.add(value);
    CHECK(timeline.poll(2).value());  // no submit has this value or a lower one
    CHECK_FALSE(timeline.poll(5).value());
    CHECK(timeline.event_for(9).value() == 3);
    CHECK(timeline.event_for(256 * 8 - 1).value() == 256 * 7);
    CHECK_FALSE(timeline.poll(256 * 8 + 1).value());  // not submitted yet
    timeline.ended_up_to = 3;
    CHECK(timeline.poll(9).value());
    CHECK(timeline.reached(9));
    CHECK_FALSE(timeline.poll(10).value());
    CHECK(timeline.wait(256 * 7 + 5, UINT64_MAX).ok());
    CHECK(timeline.waited_for == 256 * 7);
    CHECK(timeline.settled == "3 10 1792 ");
    CHECK_FALSE(timeline.poll(256 * 8).value());
    CHECK(timeline.wait(256 * 8, UINT64_MAX).ok());
    CHECK(timeline.times(256 * 7).value().spent_ns == 256 * 70);
    CHECK(timeline.times(256 * 8).value().spent_ns == 256 * 80);
    CHECK(timeline.times(9).error().code == Code::UNSUPPORTED);
}

TEST_CASE("a submit that is added while the driver ends failed work stays pending") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    timeline.add();
    timeline.unknown = true;
    timeline.on_finish = [&] { timeline.add(); };
    SUBCASE("asked") { CHECK_FALSE(timeline.poll(1).ok()); }
    SUBCASE("drained") { timeline.drain(); }
    timeline.unknown = false;
    timeline.ended_up_to = 1;
    CHECK_FALSE(timeline.poll(1).ok());
    CHECK_FALSE(timeline.poll(2).value());
    timeline.ended_up_to = 2;
    CHECK(timeline.poll(2).value());
}

TEST_CASE("if the driver's progress is unknown, its work ends first, and all pending values fail") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    for (int i = 0; i < 3; ++i) timeline.add();
    timeline.ended_up_to = 1;
    REQUIRE(timeline.poll(1).value());
    timeline.unknown = true;
    SUBCASE("asked") { CHECK(timeline.poll(2).error().message == "nobody knows"); }
    SUBCASE("awaited") { CHECK(timeline.wait(2, 10).error().message == "nobody knows"); }
    SUBCASE("drained") {
        timeline.drain();
        CHECK(timeline.poll(2).error().message == "cannot finish");
    }
    CHECK(steps == "drain ");
    CHECK(timeline.settled == "1 ");  // later submits are not settled
    CHECK(timeline.wait(1, 0).ok());
    CHECK(!timeline.wait(3, 0).ok());
    timeline.unknown = false;
    timeline.add();
    timeline.ended_up_to = 4;
    CHECK(timeline.wait(4, 0).ok());
    CHECK(!timeline.wait(3, 0).ok());
}

TEST_CASE(
    "a caller that never waits gathers no more than what is pending, and no failure is lost") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    timeline.fails = 1;
    for (int i = 0; i < 1000; ++i) timeline.add();
    CHECK(timeline.settled.empty());  // none has ended
    timeline.ended_up_to = 900;
    for (int i = 0; i < 64; ++i) timeline.add();  // they are settled in groups
    CHECK(timeline.settled.substr(0, 4) == "1 2 ");
    CHECK(timeline.wait(900, 0).ok());
    CHECK(timeline.wait(1, 0).error().message == "failed at work");
}

TEST_CASE("the event of the newest value is made before another submit, if it is pending") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    CHECK_FALSE(timeline.mark_newest().value());
    timeline.add();
    CHECK(timeline.mark_newest().value());
    CHECK(timeline.marked == "1 ");
    timeline.add();
    CHECK(timeline.mark_newest().value());
    CHECK(timeline.marked == "1 2 ");
    CHECK(timeline.wait(2, UINT64_MAX).ok());
    CHECK_FALSE(timeline.mark_newest().value());
    CHECK(timeline.marked == "1 2 ");
}

namespace {

// A driver in which several submits share the event of the last of them.
struct SharingSubmit {
    int number = 0;
    bool marked = false;
    [[nodiscard]] bool is_marked() const { return marked; }
};
struct SharingTimeline : Timeline<SharingTimeline, SharingSubmit, int> {
    explicit SharingTimeline(const LossState& loss)
        : Timeline<SharingTimeline, SharingSubmit, int>(loss) {}
    static constexpr bool kWaitsWithLimit = true, kFailsLate = false;
    void add(bool marked) {
        const int next = static_cast<int>(newest()) + 1;
        Timeline<SharingTimeline, SharingSubmit, int>::add(static_cast<std::uint64_t>(next),
                                                           {next, marked}, false);
    }
    Result<bool> has_ended(SharingSubmit& submit) {
        submit.marked = true;  // by a marker behind all submits
        asked += std::to_string(submit.number) + " ";
        return submit.number <= ended_up_to;
    }
    static Result<int> event_of(SharingSubmit& submit) { return submit.number; }
    Result<void> mark(SharingSubmit& submit) {
        submit.marked = true;
        marked += std::to_string(submit.number) + " ";
        return {};
    }
    static std::optional<Error> settle(std::uint64_t, SharingSubmit&) { return std::nullopt; }
    static WorkTimes times_of(const SharingSubmit&) { return {}; }
    Result<bool> wait_for(int event, std::uint64_t) {
        ended_up_to = event;
        return true;
    }
    static Result<void> finish() { return {}; }

    std::string asked, marked;
    int ended_up_to = 0;
};

}  // namespace

TEST_CASE("the end of a submit without an event is found by the next event, or by the newest one") {
    LossState loss;
    SharingTimeline timeline(loss);
    for (const bool marked : {true, false, false, true, false, false}) timeline.add(marked);
    CHECK(!timeline.poll(1).value());
    CHECK(!timeline.poll(2).value());
    CHECK(!timeline.poll(4).value());
    CHECK(!timeline.poll(5).value());
    CHECK(timeline.asked == "1 4 4 6 ");
    timeline.add(false);  // submit 5 still asks the marker of 6
    CHECK(!timeline.poll(5).value());
    CHECK(timeline.asked == "1 4 4 6 6 ");
    CHECK(timeline.event_for(2).value() == 4);
    timeline.ended_up_to = 4;
    CHECK(timeline.poll(2).value());
    CHECK(timeline.reached(2));
    CHECK(!timeline.reached(3));
    CHECK(timeline.wait(3, UINT64_MAX).ok());
    CHECK(timeline.wait(5, UINT64_MAX).ok());
    CHECK(timeline.ended_up_to == 6);
    CHECK(timeline.reached(5));
    CHECK(!timeline.reached(6));
}

TEST_CASE("the newest submit gets its event before another submit only if few are pending") {
    LossState loss;
    SharingTimeline timeline(loss);
    for (int n = 0; n < 3; ++n) {
        CHECK(timeline.mark_newest_of_few(3).value() == static_cast<std::size_t>(n));
        timeline.add(false);
    }
    CHECK(timeline.marked == "1 2 ");
    CHECK(timeline.mark_newest_of_few(3).value() == 3);
    CHECK(timeline.marked == "1 2 ");
}

TEST_CASE("submits that share events are settled in groups all the same, by those that have one") {
    LossState loss;
    SharingTimeline timeline(loss);
    for (int n = 1; n <= 1000; ++n) timeline.add(n % 50 == 0);
    timeline.ended_up_to = 1000;
    timeline.asked.clear();
    for (int n = 0; n < 64; ++n) timeline.add(false);
    CHECK(timeline.reached(800));
    CHECK(timeline.asked.substr(0, 7) == "50 100 ");
}

TEST_CASE("a wait without a limit is the driver's, for the newest value its cheapest") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    for (int i = 0; i < 4; ++i) timeline.add();
    CHECK(timeline.wait(2, 1000).error().code == Code::TIMEOUT);
    CHECK(timeline.waited_for == 0);  // this driver cannot wait with a limit
    CHECK(timeline.wait(2, UINT64_MAX).ok());
    CHECK(timeline.waited_for == 2);
    CHECK(!timeline.poll(3).value());
    CHECK(timeline.wait(4, UINT64_MAX).ok());
    CHECK(timeline.waited_for == 2);
    CHECK(steps == "drain ");
    CHECK(timeline.reached(4));
}

TEST_CASE("drained, everything has ended and was settled") {
    LossState loss;
    std::string steps;
    FakeTimeline timeline(loss, steps);
    for (int i = 0; i < 3; ++i) timeline.add();
    timeline.drain();
    CHECK(timeline.settled == "1 2 3 ");
    CHECK(timeline.reached(3));
    CHECK(timeline.newest() == 3);
    CHECK(!timeline.poll(4).value());  // not submitted yet
}

TEST_CASE("first in, first out, also where the places wrap around and grow") {
    Fifo<int> fifo;
    int in = 0;
    int out = 0;
    for (int round = 1; round < 60; ++round) {
        for (int i = 0; i < round; ++i) fifo.push(in++);
        for (int i = 0; i < round / 2; ++i) CHECK(fifo.pop() == out++);
        CHECK(fifo.size() == static_cast<std::size_t>(in - out));
        CHECK(fifo.front() == out);
        CHECK(fifo[fifo.size() - 1] == in - 1);
    }
    fifo.clear();
    CHECK(fifo.empty());
}

TEST_CASE("the shape of a launch: names, slots, and whether a part of a grid may run") {
    wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}, {WYE_SLOT_GRID, 0, 0, 0, 0, {}}};
    wye_artifact artifact{};
    artifact.entry = to_abi("main");
    artifact.slots = slots;
    artifact.slot_count = artifact.binding_count = 1;
    artifact.workgroup_size[0] = artifact.workgroup_size[1] = 8;
    artifact.workgroup_size[2] = 2;
    wye_dispatch_op part{};
    for (unsigned k = 0; k < 3; ++k) part.groups[k] = part.logical_groups[k] = 1;
    const auto plain = LaunchShape::of("fake", artifact);
    REQUIRE(plain.ok());
    CHECK(plain->label == "main");
    CHECK(plain->invocations() == 128);
    CHECK(plain->check(part).ok());
    part.group_offset[1] = 1;
    CHECK(plain->check(part).error().code == Code::UNSUPPORTED);
    artifact.slot_count = 2;
    CHECK(LaunchShape::of("fake", artifact)->check(part).ok());
    slots[1] = {WYE_SLOT_LENGTH, 1, 0, 0, 0, {}};
    CHECK(LaunchShape::of("fake", artifact).error().code == Code::INVALID_PROGRAM);
    slots[1].kind = 99;
    CHECK(LaunchShape::of("fake", artifact).error().code == Code::UNSUPPORTED);
}

}  // namespace
}  // namespace wye::sdk
