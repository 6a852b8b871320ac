// SPDX-License-Identifier: Apache-2.0
//
// Lost devices: which calls fail, which values stay reached, which objects can be destroyed, and
// recovery. The extension wye.loss loses a device; without it, no device can be lost on demand.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conformance/abi/rig.hpp"
#include "wye/abi_loss.h"

using harness::bytes_of;
using harness::check_helpful;
using harness::counting;
using harness::fill;
using harness::Rig;

namespace {

// The time limit of "at once". It allows for a busy machine; a wait for a lost device never ends.
constexpr std::uint64_t kSoon = 10'000'000'000;  // ns

const wye_loss_table* table_of(const harness::Device& device, std::uint32_t version = 1) {
    const std::string_view name = WYE_EXTENSION_LOSS;
    if (device.table->get_extension == nullptr) return nullptr;
    return static_cast<const wye_loss_table*>(
        device.table->get_extension(device.object, {name.data(), name.size()}, version));
}

const wye_loss_table& need_table(const harness::Device& device) {
    const wye_loss_table* table = table_of(device);
    if (table == nullptr)
        throw harness::NotApplicable{
            device.table->device_lost == nullptr
                ? "the plugin has no slot `device_lost`: its devices are never lost"
                : "the device has no extension wye.loss, by which a loss can be asked for"};
    REQUIRE(table->header.size >= WYE_SIZE_TO(wye_loss_table, lose));
    REQUIRE((table->lose != nullptr));
    return *table;
}

wye_status lose(const harness::Device& device) {
    const wye_loss_table& table = need_table(device);
    harness::Sink sink;
    const wye_status status = table.lose(device.object, sink.out());
    if (status != WYE_OK) check_helpful(sink.failure(), status);
    return status;
}

// Checks the result of a call that must fail because the device is lost.
void check_lost(const std::string& call, wye_status status, const harness::Failure& failure) {
    INFO(call);
    CHECK(status == WYE_DEVICE_LOST);
    if (status == WYE_DEVICE_LOST) check_helpful(failure, status);
}

bool says_lost(const harness::Device& device) {
    return device.table->device_lost != nullptr && device.table->device_lost(device.object) != 0;
}

// Checks that a lost device makes no objects and takes no submits.
void check_refuses_all(Rig& rig) {
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    const wye_status submitted = device.submit({});
    check_lost("a submit to a queue of the lost device", submitted, device.failure);
    CHECK((device.buffer(64) == nullptr));
    check_lost("buffer_create of the lost device", device.failure.code, device.failure);
    const wye_artifact artifact = rig.sample();
    CHECK((device.program(artifact) == nullptr));
    check_lost("program_create of the lost device", device.failure.code, device.failure);
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    wye_queue_object* queue = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* queue_table = nullptr;
    harness::Sink sink;
    const wye_status made =
        table.queue_create(device.object, &desc, &queue, &timeline, &queue_table, sink.out());
    check_lost("queue_create of the lost device", made, sink.failure());
    CHECK((queue == nullptr));
    if (table.command_create == nullptr) return;
    const harness::Command command(device, {});
    check_lost("command_create of the lost device", command.status, command.failure);
}

// Work on two queues that takes a while. Each submit copies data and runs a program. Each submit of
// the second queue waits for one of the first queue. No call waits for the end of any submit.
class Work {
  public:
    explicit Work(Rig& rig) : rig_(rig), second_(rig.device.queue_create()) {
        harness::Device& device = rig.device;
        for (wye_buffer_object*& buffer : large_) {
            buffer = device.buffer(kBytes);
            REQUIRE(buffer != nullptr);
        }
        x_ = device.buffer(bytes_of(counting(64)));
        r_ = rig.zeros(256);
        const wye_artifact artifact = rig.sample();
        REQUIRE(device.table->program_create(device.object, &artifact, &program_, nullptr) ==
                WYE_OK);
    }
    ~Work() {
        destroy_queue();
        destroy_program();
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    static constexpr std::uint64_t kBytes = 8U << 20U;

    // The values of all submits: one of the first queue, then the one of the second queue that
    // waits for it, and so on.
    [[nodiscard]] const std::vector<wye_event>& events() const { return events_; }
    [[nodiscard]] wye_queue_object* second() const { return second_; }
    [[nodiscard]] wye_buffer_object* target() const { return large_[1]; }

    void submit() {
        for (int i = 0; i < 6; ++i) {
            add(rig_.device.queue, {});
            const wye_event first = events_.back();
            add(second_, {&first, 1});
        }
    }
    // Submits once to `queue`.
    void add(wye_queue_object* queue, std::span<const wye_event> waits,
             std::span<const wye_event> signals = {}) {
        static constexpr std::uint32_t kBy = 5;
        const wye_binding bindings[] = {harness::binding(x_, 0, 64), harness::binding(r_, 0, 64)};
        const wye_operation operations[] = {fill(large_[0], 0, kBytes, 7, 4),
                                            harness::copy(large_[0], large_[1], 0, 0, kBytes),
                                            harness::dispatch(program_, bindings, {1, 1, 1}, &kBy),
                                            harness::copy(large_[1], large_[0], 0, 0, kBytes)};
        REQUIRE(rig_.device.submit(operations, waits, queue, signals) == WYE_OK);
        events_.push_back(rig_.device.event(queue, rig_.device.value));
    }

    void destroy_queue() {
        if (second_ != nullptr) rig_.device.queue_table->destroy(second_);
        second_ = nullptr;
    }
    void destroy_program() {
        if (program_ != nullptr) rig_.device.table->program_destroy(rig_.device.object, program_);
        program_ = nullptr;
    }
    void destroy_buffers() {
        for (wye_buffer_object* buffer : {large_[0], large_[1], x_, r_})
            rig_.device.destroy(buffer);
    }

  private:
    Rig& rig_;
    wye_queue_object* second_;
    wye_buffer_object* large_[2] = {};
    wye_buffer_object* x_ = nullptr;
    wye_buffer_object* r_ = nullptr;
    wye_program_object* program_ = nullptr;
    std::vector<wye_event> events_;
};

// The status of a value after the loss: WYE_OK if the value was reached before, else DEVICE_LOST.
wye_status outcome(const harness::Device& device, const wye_event& event) {
    harness::Sink sink;
    const wye_status status = device.table->query(device.object, &event, sink.out());
    if (status != WYE_OK) check_lost("a query of a value", status, sink.failure());
    return status;
}
wye_status outcome_by_wait(const harness::Device& device, const wye_event& event) {
    harness::Sink sink;
    const wye_status status =
        device.table->wait(device.object, &event, 1, 0, kSoon, nullptr, sink.out());
    if (status != WYE_OK) check_lost("a wait for a value", status, sink.failure());
    return status;
}

}  // namespace

TEST_SUITE_BEGIN("loss");

TEST_CASE("the table of wye.loss is whole, and of the version asked for (P-50)") {
    const Rig rig;
    CHECK((table_of(rig.device, 2) == nullptr));
    CHECK((table_of(rig.device, 0) == nullptr));
    const wye_loss_table& table = need_table(rig.device);
    CHECK((table_of(rig.device) == &table));
    CHECK_MESSAGE((rig.device.table->device_lost != nullptr),
                  "a device that can be lost has the slot `device_lost`");
}

TEST_CASE("a lost device says so, and refuses new objects and work with a remedy (P-50)") {
    Rig rig;
    need_table(rig.device);
    wye_queue_object* second = rig.device.queue_create();
    CHECK_FALSE(says_lost(rig.device));
    REQUIRE(lose(rig.device) == WYE_OK);
    CHECK(says_lost(rig.device));
    check_refuses_all(rig);
    const wye_status submitted = rig.device.submit({}, {}, second);
    check_lost("a submit to another queue", submitted, rig.device.failure);
    CHECK(lose(rig.device) == WYE_DEVICE_LOST);
    CHECK(says_lost(rig.device));
    rig.device.queue_table->destroy(second);
}

TEST_CASE("values that were reached before a loss stay so (P-50)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    wye_buffer_object* const buffer = rig.zeros(256);
    const std::uint64_t reached = device.value;
    REQUIRE(device.query(device.queue, reached, nullptr) == WYE_OK);
    REQUIRE(lose(device) == WYE_OK);
    CHECK(device.query(device.queue, reached, nullptr) == WYE_OK);
    CHECK(device.await(device.queue, reached, kSoon, nullptr) == WYE_OK);
    CHECK(device.query(device.queue, 0, nullptr) == WYE_OK);
    device.destroy(buffer);
}

TEST_CASE("what waits for a value that was not reached before a loss fails at once (P-50)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    rig.zeros(256);
    const std::uint64_t never = device.value + 1;
    REQUIRE(lose(device) == WYE_OK);
    harness::Sink sink;
    const auto begun = std::chrono::steady_clock::now();
    const wye_status status = device.await(device.queue, never, kSoon, sink.out());
    check_lost("a wait for a value that was not submitted", status, sink.failure());
    CHECK((std::chrono::steady_clock::now() - begun < std::chrono::nanoseconds(kSoon)));
    CHECK(device.query(device.queue, never, nullptr) == WYE_DEVICE_LOST);
}

TEST_CASE("everything of a lost device can be destroyed, in any order (P-50)") {
    for (const bool queue_first : {true, false}) {
        CAPTURE(queue_first);
        Rig rig;
        harness::Device& device = rig.device;
        need_table(device);
        wye_queue_object* const queue = device.queue_create();
        wye_buffer_object* const buffer = rig.zeros(4096);
        rig.add_program();
        wye_timeline_object* timeline = nullptr;
        if (device.table->timeline_create != nullptr) {
            wye_timeline_desc desc{};
            desc.header.size = sizeof desc;
            REQUIRE(device.table->timeline_create(device.object, &desc, &timeline, nullptr) ==
                    WYE_OK);
        }
        REQUIRE(lose(device) == WYE_OK);
        if (queue_first) device.queue_table->destroy(queue);
        device.destroy(buffer);
        if (timeline != nullptr) device.table->timeline_destroy(device.object, timeline);
        if (!queue_first) device.queue_table->destroy(queue);
        // The destructors destroy the objects that are left, and close the device.
    }
}

TEST_CASE("values that are pending at a loss fail at once, or were reached, and stay so (P-50)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    Work work(rig);
    work.submit();
    REQUIRE(lose(device) == WYE_OK);
    std::vector<wye_status> known;
    for (const wye_event& event : work.events()) known.push_back(outcome(device, event));
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < known.size(); ++i) {
        CAPTURE(i);
        CHECK(outcome_by_wait(device, work.events()[i]) == known[i]);
        CHECK(outcome(device, work.events()[i]) == known[i]);
        // A value comes after the last value of its queue and after the value that its submit waits
        // for. Neither of these may have failed if this value was reached.
        if (i >= 2) CHECK((known[i - 2] == WYE_OK || known[i] != WYE_OK));
        if (i % 2 == 1) CHECK((known[i - 1] == WYE_OK || known[i] != WYE_OK));
    }
    CHECK((std::chrono::steady_clock::now() - begun < std::chrono::nanoseconds(kSoon)));
    check_refuses_all(rig);
}

TEST_CASE(
    "after a loss a timeline value ends like the work that signals it; other waits fail (P-50)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    harness::Timeline made(device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    Work work(rig);
    const wye_event first = made.event(10), second = made.event(20), never = made.event(30);
    work.submit();
    work.add(device.queue, {}, {&first, 1});
    const wye_event signals_first = work.events().back();
    work.add(work.second(), {&first, 1}, {&second, 1});
    const wye_event signals_second = work.events().back();
    // A plugin may refuse this submit, or hold it back. If it holds the submit back, its value is
    // pending.
    const bool held = device.submit({}, {&never, 1}, work.second()) == WYE_OK;
    const wye_event waits = device.event(work.second(), device.value);
    wye_status of_second = WYE_OK, of_never = WYE_OK;
    std::chrono::steady_clock::time_point ended;
    std::thread waits_second([&] { of_second = made.wait(20); });
    std::thread waits_never([&] {
        of_never = made.wait(30);
        ended = std::chrono::steady_clock::now();
    });
    // By now both threads probably wait. A thread that calls `wait` only later must get the same
    // result.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const wye_status status = lose(device);
    const auto begun = std::chrono::steady_clock::now();
    waits_second.join();
    waits_never.join();
    REQUIRE(status == WYE_OK);
    CHECK(of_never == WYE_DEVICE_LOST);
    CHECK((ended - begun < std::chrono::nanoseconds(kSoon)));
    CHECK(outcome(device, never) == WYE_DEVICE_LOST);
    CHECK(outcome(device, second) == outcome(device, signals_second));
    CHECK(of_second == outcome(device, second));
    // A value of a timeline is also reached if a later value of the timeline is.
    const wye_status of_first = of_second == WYE_OK ? WYE_OK : outcome(device, signals_first);
    CHECK(outcome(device, first) == of_first);
    if (held) CHECK(outcome(device, waits) == WYE_DEVICE_LOST);
}

TEST_CASE("the objects of work that was pending at a loss can be destroyed, in any order (P-50)") {
    for (int order = 0; order < 5; ++order) {
        CAPTURE(order);
        Rig rig;
        harness::Device& device = rig.device;
        need_table(device);
        Work work(rig);
        harness::Timeline made(device);
        const wye_event signal = made.event(1);
        work.submit();
        if (made.timeline != nullptr) work.add(work.second(), {}, {&signal, 1});
        std::vector<std::function<void()>> steps = {
            [&] { work.destroy_buffers(); }, [&] { work.destroy_program(); },
            [&] { work.destroy_queue(); }, [&] { made.destroy(); },
            [&] {
                device.queue_table->destroy(device.queue);
                device.queue = nullptr;
            }};
        std::rotate(steps.begin(), steps.begin() + order, steps.end());
        REQUIRE(lose(device) == WYE_OK);
        for (const auto& step : steps) step();
        CHECK(says_lost(device));
    }
}

TEST_CASE("memory of a pending transfer is not written once its value failed (P-13, P-50)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    Work work(rig);
    work.submit();
    std::vector<std::byte> memory(Work::kBytes);
    const wye_operation down = harness::download(work.target(), 0, memory);
    REQUIRE(device.submit({&down, 1}, {}, work.second()) == WYE_OK);
    const wye_event last = device.event(work.second(), device.value);
    REQUIRE(lose(device) == WYE_OK);
    (void)outcome(device, last);
    std::fill(memory.begin(), memory.end(), std::byte{0xa5});
    work.destroy_queue();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK((std::count(memory.begin(), memory.end(), std::byte{0xa5}) ==
           static_cast<std::ptrdiff_t>(memory.size())));
}

TEST_CASE("a lost device is recovered, or refuses with a remedy and stays lost (P-50, P-11)") {
    Rig rig;
    harness::Device& device = rig.device;
    need_table(device);
    if (device.table->try_recover == nullptr)
        return harness::not_applicable(
            "the plugin has no slot `try_recover`: a lost device is opened again");
    wye_buffer_object* const earlier = rig.zeros(4096);
    rig.add_program();
    REQUIRE(lose(device) == WYE_OK);
    harness::Sink sink;
    const wye_status status = device.table->try_recover(device.object, sink.out());
    if (status != WYE_OK) {
        check_helpful(sink.failure(), status);
        CHECK(says_lost(device));
        check_refuses_all(rig);
        return;
    }
    CHECK_FALSE(says_lost(device));
    device.destroy(earlier);
    device.queue_table->destroy(device.queue);
    device.queue = nullptr;
    device.queue = device.queue_create();
    rig.check_works();
}

TEST_CASE("after a loss the device can be opened again, or refuses with a remedy (P-50, P-11)") {
    harness::QuietPlugin plugin;
    {
        harness::Device device(plugin);
        need_table(device);
        REQUIRE(lose(device) == WYE_OK);
    }
    harness::Sink sink;
    wye_device_object* again = nullptr;
    const wye_device_table* table = nullptr;
    const wye_status status = plugin.open(&again, &table, sink.out());
    CHECK((again != nullptr) == (status == WYE_OK));
    if (status != WYE_OK) return check_helpful(sink.failure(), status);
    if (table->device_lost != nullptr) CHECK(table->device_lost(again) == 0);
    table->close(again);
    harness::Device device(plugin);
    wye_buffer_object* const buffer = device.buffer(256);
    REQUIRE(buffer != nullptr);
    CHECK(device.run(fill(buffer, 0, 256, 7, 4)) == WYE_OK);
}

TEST_CASE("the loss of an opened device leaves another one as it is (P-50)") {
    harness::QuietPlugin plugin;
    harness::Device lost(plugin);
    need_table(lost);
    harness::Device other(plugin);
    wye_buffer_object* const buffer = other.buffer(256);
    REQUIRE(buffer != nullptr);
    REQUIRE(lose(lost) == WYE_OK);
    CHECK_FALSE(says_lost(other));
    CHECK(other.run(fill(buffer, 0, 256, 7, 4)) == WYE_OK);
}

TEST_SUITE_END();
