// SPDX-License-Identifier: Apache-2.0
//
// Queues that wait for an event which the application made with the driver's own API. Runs on the
// driver of this test. The CPU, which has no such events, refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "native_api.hpp"
#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_native_wait {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::Beside;
using api_test::counting;
using api_test::EventPtr;
using api_test::kBytes;
using api_test::kCount;
using api_test::NativeApi;
using api_test::need;
using api_test::take;

// Work that waits for no event ends within this time.
constexpr std::chrono::milliseconds kLong(60);

Words advanced(Words words, int times) {
    for (; times > 0; --times)
        for (std::uint32_t& one : words) one = one * 3 + 1;
    return words;
}

// Buffers, and dispatches from each buffer to the next. The program was already launched once.
struct Work {
    explicit Work(const Beside& opened) : t(opened) {
        for (int i = 0; i < 4; ++i) buffers.push_back(take(t.device.buffer(kBytes)));
        take(step(0, nullptr).run());
        need(buffers[0].upload(counting(7)));
        for (int i = 1; i < 4; ++i) need(buffers[i].fill(0, 0, kBytes));
    }
    wye::Dispatch step(std::size_t from, const wye::Queue* queue) {
        wye::Dispatch out(t.program, t.device);
        out.bind("x", buffers[from]).bind("r", buffers[from + 1]);
        if (queue != nullptr) out.on(*queue);
        return out;
    }
    // Whether the buffer has the result of `times` dispatches. Always true on a fake driver.
    [[nodiscard]] bool has(std::size_t buffer, int times) const {
        Words found(kCount);
        need(buffers[buffer].download(found));
        return !support::test_driver_computes() || found == advanced(counting(7), times);
    }
    const Beside& t;
    std::vector<wye::Buffer> buffers;
};

void check_waits(const wye::Pending& pending) {
    CHECK_FALSE(take(pending.poll()));
    const auto waited = pending.wait(kLong);
    REQUIRE_FALSE(waited.ok());
    CHECK(waited.error().code == wye::Code::TIMEOUT);
    CHECK_FALSE(take(pending.poll()));
}

void check_refused(const wye::Result<void>& result, wye::Code code, std::string_view says) {
    REQUIRE_FALSE(result.ok());
    CAPTURE(result.error().message);
    CHECK(result.error().code == code);
    CHECK(result.error().message.find(says) != std::string::npos);
    CHECK(result.error().fix.starts_with("Fix: "));
}

}  // namespace

TEST_CASE("work of a queue begins after a native event, and no thread waits for it") {
    const Beside t;
    Work work(t);
    const wye::Queue queue = take(t.device.queue({.label = "waits"}));
    const EventPtr event = t.api->event();
    need(queue.wait(event->handle()));
    const wye::Pending first = take(work.step(0, &queue).submit());
    const wye::Pending second = take(work.step(1, &queue).submit());
    check_waits(first);
    CHECK_FALSE(take(second.poll()));
    event->happen();
    (void)take(second.wait());
    (void)take(first.wait());
    CHECK(work.has(1, 1));
    CHECK(work.has(2, 2));
    CHECK(take(queue.describe()).submits == 3);
}

TEST_CASE("work of other queues on the same buffers follows work that waits; other work does not") {
    const Beside t;
    Work work(t);
    const wye::Queue waits = take(t.device.queue({.label = "waits"}));
    const wye::Queue follows = take(t.device.queue({.label = "follows"}));
    const EventPtr event = t.api->event();
    need(waits.wait(event->handle()));
    const wye::Pending first = take(work.step(0, &waits).submit());
    const wye::Pending second = take(work.step(1, &follows).submit());
    check_waits(second);
    const wye::Queue other = take(t.device.queue({.label = "other"}));
    if (t.api->has_queues() && take(other.describe()).shared == 0) {
        auto free = take(t.device.buffer(kBytes));
        need(free.fill(5, 0, kBytes, &other));
        Words found(kCount);
        need(free.download(found, &other));
        CHECK(found == Words(kCount, 5));
        CHECK_FALSE(take(first.poll()));
    }
    event->happen();
    (void)take(second.wait());
    CHECK(work.has(2, 2));
    (void)take(first.wait());
}

TEST_CASE("a submit that writes what waiting work reads returns at once, on each queue") {
    const Beside t;
    Work work(t);
    const wye::Queue waits = take(t.device.queue({.label = "waits"}));
    const wye::Queue other = take(t.device.queue({.label = "other"}));
    for (const wye::Queue* writes : {&waits, &other}) {
        need(work.buffers[1].fill(0, 0, kBytes));
        const EventPtr event = t.api->event();
        need(waits.wait(event->handle()));
        const wye::Pending read = take(work.buffers[1].submit_download(kBytes, 0, &waits));
        const wye::Pending write = take(work.step(0, writes).submit());
        check_waits(write);
        event->happen();
        (void)take(write.wait());
        (void)take(read.wait());
        CHECK(std::ranges::count(take(read.output<std::byte>("bytes")), std::byte{0}) == kBytes);
        CHECK(work.has(1, 1));
    }
}

TEST_CASE("a queue waits for several native events, and not for one that has happened") {
    const Beside t;
    Work work(t);
    const wye::Queue queue = take(t.device.queue());
    const EventPtr one = t.api->event(), two = t.api->event();
    one->happen();
    need(queue.wait(one->handle()));
    (void)take(work.step(0, &queue).run());
    CHECK(work.has(1, 1));
    const EventPtr three = t.api->event();
    need(queue.wait(two->handle()));
    need(queue.wait(three->handle()));
    const wye::Pending pending = take(work.step(1, &queue).submit());
    three->happen();
    check_waits(pending);
    two->happen();
    (void)take(pending.wait());
    CHECK(work.has(2, 2));
}

TEST_CASE("a time limit holds for work that waits for a native event") {
    const Beside t;
    Work work(t);
    const wye::Queue queue = take(t.device.queue());
    const EventPtr event = t.api->event();
    need(queue.wait(event->handle()));
    const auto late =
        work.step(0, &queue).timeout_ns(std::chrono::nanoseconds(kLong).count()).run();
    REQUIRE_FALSE(late.ok());
    CHECK(late.error().code == wye::Code::TIMEOUT);
    event->happen();
    need(queue.flush());
    (void)take(work.step(0, &queue).run());
    CHECK(work.has(1, 1));
}

TEST_CASE("a queue that waits is freed and its device flushed once the event has happened") {
    const Beside t;
    Work work(t);
    const EventPtr event = t.api->event();
    {
        const wye::Queue queue = take(t.device.queue());
        need(queue.wait(event->handle()));
        (void)take(work.step(0, &queue).submit());
    }
    std::thread signaller([&] {
        std::this_thread::sleep_for(kLong);
        event->happen();
    });
    need(t.device.flush());
    signaller.join();
    CHECK(work.has(1, 1));
}

TEST_CASE("wrong native events are refused by name, and nothing waits") {
    const Beside t;
    Work work(t);
    const wye::Queue queue = take(t.device.queue());
    const EventPtr event = t.api->event();
    const wye_native_handle right = event->handle();
    const std::string type(right.values[0].type.data, right.values[0].type.size);
    check_refused(queue.wait(wye_native_of(type.c_str(), 0)), wye::Code::INVALID_ARGUMENT,
                  "null `" + type + "`");
    check_refused(queue.wait(wye_native_of("HANDLE", 77)), wye::Code::INVALID_ARGUMENT,
                  "waits for a `" + type + "`; the native event is `HANDLE`");
    for (const NativeApi::RefusedEvent& wrong : t.api->refused_events(*event)) {
        CAPTURE(wrong.says);
        check_refused(queue.wait(wrong.handle), wrong.code, wrong.says);
    }
    CHECK(take(queue.describe()).submits == 0);
    (void)take(work.step(0, &queue).run());
    CHECK(work.has(1, 1));
}

TEST_CASE("the CPU has no native events, and says so; drivers that have some claim it") {
    const Beside cpu("cpu");
    CHECK(cpu.api->event() == nullptr);
    const wye::Queue queue = take(cpu.device.queue());
    check_refused(queue.wait(wye_native_of("void*", 64)), wye::Code::UNSUPPORTED,
                  "waits for no events");
    const auto absent = cpu.device.fact("native_wait");
    CHECK((!absent.ok() || absent->u == 0));
    const Beside t;
    CHECK(take(t.device.fact("native_wait")).u == 1);
}

}  // namespace wye::test::test_native_wait
