// SPDX-License-Identifier: Apache-2.0
//
// What plugins are made of: values, losses, handles, the way of a submit, the shape of a launch.
#include <doctest/doctest.h>

#include <map>

#include "wye/sdk/handle.hpp"
#include "wye/sdk/launch_shape.hpp"
#include "wye/sdk/queue_submit.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::sdk {
namespace {

Error broken(const char* what) { return {Code::DRIVER, what, "Fix: none, this is a test"}; }

TEST_CASE("a value is pending, reached or failed, and the first failure counts") {
    using State = ValueLog::State;
    ValueLog log(false);
    CHECK(log.state(0) == State::Reached);
    CHECK(log.add() == 1);
    CHECK(log.add() == 2);
    CHECK(log.state(1) == State::Pending);
    log.reach(1);
    CHECK(log.state(1) == State::Reached);
    log.fail_pending(broken("first"));
    log.poison(broken("second"));
    log.fail(1, broken("third"));
    CHECK(log.state(1) == State::Reached);
    CHECK(log.outcome(1).ok());
    CHECK(log.state(2) == State::Failed);
    CHECK(log.outcome(2).error().message == "first");
    CHECK(log.failure(UINT64_MAX)->message == "first");
    log.reach(2);  // ended, and failed all the same
    CHECK(log.state(2) == State::Failed);
}

TEST_CASE("times are kept of the newest values, where they are asked for") {
    ValueLog log(true);
    for (std::uint64_t v = 1; v <= ValueLog::kKeptTimes + 1; ++v) log.keep_time(v, v * 10);
    CHECK(log.device_ns(1).error().code == Code::UNSUPPORTED);
    CHECK(log.device_ns(2).value() == 20);
    CHECK(log.device_ns(ValueLog::kKeptTimes + 1).value() == (ValueLog::kKeptTimes + 1) * 10);
    CHECK(log.device_ns(0).error().code == Code::UNSUPPORTED);
    ValueLog untimed(false);
    untimed.keep_time(1, 10);
    CHECK(untimed.device_ns(1).error().code == Code::UNSUPPORTED);
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

struct FakeTimeline : Timeline<FakeTimeline> {
    explicit FakeTimeline(const LossState& loss) : Timeline<FakeTimeline>(loss, false) {}
    std::uint64_t add() { return log_.add(); }
    Result<bool> ended(std::uint64_t value) {
        if (value <= ended_up_to) log_.reach(value);
        return value <= ended_up_to;
    }
    Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns) {
        return ask_at_intervals(Clock::now(), timeout_ns, [&] { return ended(value); });
    }
    std::uint64_t ended_up_to = 0;
};

// Writes down what it was asked for; refuses copies.
struct FakeQueue : InOrderQueue<FakeQueue> {
    static constexpr std::string_view kPlugin = "fake";
    explicit FakeQueue(const LossState& loss) : own(loss) {}
    FakeTimeline& timeline() { return own; }
    Result<void> note(const char* what) {
        steps += what;
        return {};
    }
    Result<void> begin() { return note("begin "); }
    Result<void> wait_for(FakeQueue&, std::uint64_t) { return note("wait "); }
    std::span<const wye_operation> plan(std::span<const wye_operation> operations) {
        (void)note("plan ");
        return operations;
    }
    Result<void> dispatch(const wye_dispatch_op&) {
        if (out_of_memory) throw std::bad_alloc();
        return queued(note("dispatch "));
    }
    Result<void> copy(const wye_copy_op&) { return queued(broken("no copies")); }
    Result<void> fill(const wye_fill_op&) { return queued(note("fill ")); }
    Result<void> upload(const wye_transfer_op&) { return queued(note("upload ")); }
    Result<void> download(const wye_transfer_op&) { return queued(note("download ")); }
    Result<std::uint64_t> end() {
        (void)note("end");
        return own.add();
    }
    void drain() { (void)note("drain "); }
    void abandon() { (void)note("abandon"); }

    FakeTimeline own;
    std::string steps;
    bool out_of_memory = false;
};

wye_operation operation(std::uint32_t kind, std::uint64_t size = 4) {
    wye_operation out{};
    out.kind = kind;
    if (kind == WYE_OPERATION_COPY) out.u.copy.size = size;
    if (kind == WYE_OPERATION_FILL) out.u.fill.size = size;
    if (kind > WYE_OPERATION_FILL) out.u.transfer.size = size;
    return out;
}

TEST_CASE("a submit goes its way; what moves nothing is no step of it") {
    LossState loss;
    FakeQueue queue(loss), other(loss);
    const wye_event waits[] = {{reinterpret_cast<wye_queue_object*>(&queue), 0},
                               {reinterpret_cast<wye_queue_object*>(&other), 0}};
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

TEST_CASE("a refusal after a part was queued drains and poisons; before that it does neither") {
    LossState loss;
    FakeQueue queue(loss);
    const wye_operation copy = operation(WYE_OPERATION_COPY);
    CHECK(queue.submit({&copy, 1}, {}).error().message == "no copies");
    CHECK(queue.steps == "begin plan abandon");
    queue.steps.clear();
    const wye_operation both[] = {operation(WYE_OPERATION_FILL), copy};
    CHECK(queue.submit(both, {}).error().message == "no copies");
    CHECK(queue.steps == "begin plan fill drain abandon");
    queue.steps.clear();
    CHECK(queue.submit({}, {}).error().message == "no copies");  // and nothing was begun
    CHECK(queue.steps == "abandon");
    CHECK(queue.timeline().wait(1, 0).error().message == "no copies");

    FakeQueue unknown(loss);
    const wye_operation odd = operation(77);
    CHECK(unknown.submit({&odd, 1}, {}).error().code == Code::UNSUPPORTED);
    CHECK(unknown.submit({}, {}).ok());
}

TEST_CASE("a submit that runs out of memory in the middle is taken back") {
    LossState loss;
    FakeQueue queue(loss);
    queue.out_of_memory = true;
    const wye_operation both[] = {operation(WYE_OPERATION_FILL), operation(WYE_OPERATION_DISPATCH)};
    CHECK_THROWS_AS((void)queue.submit(both, {}), std::bad_alloc);
    CHECK(queue.steps == "begin plan fill drain abandon");
    CHECK(queue.submit({}, {}).error().code == Code::OUT_OF_MEMORY);
}

TEST_CASE("what a loss met is lost, what was reached before stays reached") {
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

TEST_CASE("the shape of a launch: names, slots, and whether a part of a grid may run") {
    wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3}, {WYE_SLOT_GRID, 0, 0, 0}};
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
    slots[1] = {WYE_SLOT_LENGTH, 1, 0, 0};
    CHECK(LaunchShape::of("fake", artifact).error().code == Code::INVALID_PROGRAM);
    slots[1].kind = 99;
    CHECK(LaunchShape::of("fake", artifact).error().code == Code::UNSUPPORTED);
}

}  // namespace
}  // namespace wye::sdk
