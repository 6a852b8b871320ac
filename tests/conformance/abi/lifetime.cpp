// SPDX-License-Identifier: Apache-2.0
//
// Destruction of objects: in any order, with work pending, and many times.
#include <algorithm>
#include <array>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::fill;
using harness::kDeadline;
using harness::Rig;

namespace {

// One object of each kind of a device. A case destroys them in the order that it chooses.
class Objects {
  public:
    explicit Objects(Rig& rig) : device_(rig.device), table_(*rig.device.table) {
        wye_buffer_desc description{};
        description.header.size = sizeof description;
        description.size = 1024;
        description.alignment = 16;
        REQUIRE(table_.buffer_create(device_.object, &description, &buffer_, nullptr) == WYE_OK);
        const wye_artifact artifact = rig.sample();
        REQUIRE(table_.program_create(device_.object, &artifact, &program_, nullptr) == WYE_OK);
        queue_ = device_.queue_create();
        if (table_.command_create == nullptr) return;
        const wye_operation clear = fill(buffer_, 0, 1024, 7, 4);
        wye_command_desc command{};
        command.header.size = sizeof command;
        command.operations = &clear;
        command.operation_count = 1;
        REQUIRE(table_.command_create(device_.object, &command, &command_, nullptr) == WYE_OK);
    }
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    static constexpr std::array<char, 4> kKinds = {'b', 'c', 'p', 'q'};
    void destroy(char kind) {
        if (kind == 'b') table_.buffer_destroy(device_.object, buffer_);
        if (kind == 'p') table_.program_destroy(device_.object, program_);
        if (kind == 'q') device_.queue_table->destroy(queue_);
        if (kind == 'c' && command_ != nullptr) table_.command_destroy(device_.object, command_);
    }
    // Fills the buffer, runs the program and the command on it, and waits for their end.
    void use() {
        const std::uint32_t by = 1;
        const wye_binding bindings[] = {binding(buffer_, 0, 64), binding(buffer_, 512, 64)};
        std::vector<wye_operation> work = {fill(buffer_, 0, 1024, 3, 4),
                                           harness::dispatch(program_, bindings, {1, 1, 1}, &by)};
        if (command_ != nullptr) {
            wye_operation execute{};
            execute.kind = WYE_OPERATION_EXECUTE;
            execute.u.execute.command = command_;
            work.push_back(execute);
        }
        REQUIRE(device_.submit(work, {}, queue_) == WYE_OK);
        CHECK(device_.await(queue_, device_.value, kDeadline, nullptr) == WYE_OK);
    }

  private:
    harness::Device& device_;
    const wye_device_table& table_;
    wye_buffer_object* buffer_ = nullptr;
    wye_program_object* program_ = nullptr;
    wye_queue_object* queue_ = nullptr;
    wye_command_object* command_ = nullptr;
};

}  // namespace

TEST_SUITE_BEGIN("lifetime");

TEST_CASE("buffer, command, program and queue of a device end in any order (P-13, P-29)") {
    Rig rig;
    std::array<char, 4> order = Objects::kKinds;
    do {
        const std::string ends(order.begin(), order.end());
        CAPTURE(ends);
        Objects objects(rig);
        objects.use();
        for (const char kind : order) objects.destroy(kind);
        rig.check_works();
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("destroying a queue waits for its pending work (P-13, P-25)") {
    Rig rig;
    constexpr std::uint64_t kBytes = std::uint64_t{16} << 20U;
    wye_buffer_object* buffer = rig.device.buffer(kBytes);
    for (std::uint32_t round = 1; round <= 4; ++round) {
        wye_queue_object* queue = rig.device.queue_create();
        std::vector<std::byte> got(kBytes);
        const wye_operation work[] = {fill(buffer, 0, kBytes, round, 1),
                                      harness::download(buffer, 0, got)};
        REQUIRE(rig.device.submit(work, {}, queue) == WYE_OK);
        rig.device.queue_table->destroy(queue);
        harness::check_same(got, std::vector<std::byte>(kBytes, static_cast<std::byte>(round)));
    }
}

TEST_CASE("a queue or timeline ends while submits of other queues wait for its values (P-54)") {
    Rig rig;
    constexpr std::uint32_t kWords = 1U << 20U;
    constexpr std::uint64_t kBytes = std::uint64_t{kWords} * 4;
    wye_buffer_object* a = rig.device.buffer(kBytes);
    wye_buffer_object* b = rig.device.buffer(kBytes);
    wye_buffer_object* c = rig.device.buffer(kBytes);
    wye_queue_object* waits = rig.device.queue;
    const std::vector<wye_operation> slow(20, fill(c, 0, kBytes, 7, 1));
    for (std::uint32_t round = 0; round < 24; ++round) {
        CAPTURE(round);
        const bool busy = round % 2 == 0;       // work is pending on the queue `waits`
        const bool ended = round / 2 % 2 == 0;  // the value has ended before its queue is destroyed
        const bool made_one = round / 4 % 2 == 0;
        wye_queue_object* ends = rig.device.queue_create();
        harness::Timeline made(rig.device);
        const bool signals = made_one && made.timeline != nullptr;
        const auto words = counting(kWords, round);
        const wye_operation up = harness::upload(a, 0, bytes_of(words));
        const wye_operation copy = harness::copy(a, b, 0, 0, kBytes);
        if (busy) REQUIRE(rig.device.submit(slow, {}, waits) == WYE_OK);
        wye_event event = made.event(1);
        REQUIRE(rig.device.submit({&up, 1}, {}, ends, {&event, signals ? 1U : 0U}) == WYE_OK);
        const std::uint64_t value = rig.device.value;
        if (!signals) event = rig.device.event(ends, value);
        if (round % 3 == 0) event.flags = WYE_EVENT_ORDER_ONLY;
        REQUIRE(rig.device.submit({&copy, 1}, {&event, 1}, waits) == WYE_OK);
        const std::uint64_t behind = rig.device.value;
        if (ended) CHECK(rig.device.await(ends, value, kDeadline, nullptr) == WYE_OK);
        rig.device.queue_table->destroy(ends);
        made.destroy();
        // New objects may have the addresses of those that were destroyed.
        rig.device.queue_table->destroy(rig.device.queue_create());
        CHECK(rig.device.await(waits, behind, kDeadline, nullptr) == WYE_OK);
        harness::check_same(rig.words(b, kWords), words);
    }
}

TEST_CASE("a failed value of a destroyed queue still fails what waits for it (P-26, P-54)") {
    Rig rig;
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 22U;
    wye_buffer_object* a = rig.device.buffer(kBytes);
    wye_buffer_object* b = rig.device.buffer(kBytes);
    if (rig.device.queue_table->cancel == nullptr)
        return harness::not_applicable("the plugin cancels nothing");
    wye_buffer_object* c = rig.device.buffer(kBytes);
    const std::vector<wye_operation> slow(200, fill(a, 0, kBytes, 7, 1));
    const std::vector<wye_operation> other(200, fill(c, 0, kBytes, 7, 1));
    const wye_operation clear = fill(b, 0, kBytes, 0, 1);
    for (int round = 0; round < 4; ++round) {
        wye_queue_object* ends = rig.device.queue_create();
        REQUIRE(rig.device.submit(slow, {}, rig.device.queue) == WYE_OK);
        REQUIRE(rig.device.submit(other, {}, ends) == WYE_OK);
        const std::uint64_t value = rig.device.value;
        const wye_event event = rig.device.event(ends, value);
        REQUIRE(rig.device.submit({&clear, 1}, {&event, 1}, rig.device.queue) == WYE_OK);
        const std::uint64_t behind = rig.device.value;
        CHECK(rig.device.queue_table->cancel(ends, value, value, nullptr) == WYE_OK);
        const wye_status outcome = rig.device.await(ends, value, kDeadline, nullptr);
        CHECK((outcome == WYE_OK || outcome == WYE_CANCELLED));
        rig.device.queue_table->destroy(ends);
        CHECK(rig.device.await(rig.device.queue, behind, kDeadline, nullptr) == outcome);
    }
}

TEST_CASE("a device that is closed leaves another device of the plugin as it was (P-29)") {
    harness::QuietPlugin plugin;
    harness::Device kept(plugin);
    const auto words = counting(256, 3);
    wye_buffer_object* buffer = kept.buffer(bytes_of(words));
    for (int round = 0; round < 5; ++round) {
        harness::Device other(plugin);
        wye_buffer_object* theirs = other.buffer(1024);
        REQUIRE(other.run(fill(theirs, 0, 1024, 1, 1)) == WYE_OK);
    }
    harness::check_same(harness::values_of<std::uint32_t>(kept.download(buffer, 1024)), words);
}

TEST_CASE("a device can be opened twice, and the plugin again after shutdown (P-29)") {
    for (int round = 0; round < 2; ++round) {
        harness::QuietPlugin plugin;
        harness::Device first(plugin);
        harness::Device second(plugin);
        CHECK(first.object != second.object);
        const auto content = harness::counting(64, 7);
        wye_buffer_object* mine = first.buffer(harness::bytes_of(content));
        wye_buffer_object* theirs = second.buffer(harness::bytes_of(harness::counting(64, 1000)));
        REQUIRE(second.run(harness::fill(theirs, 0, 256, 0, 4)) == WYE_OK);
        harness::check_same(harness::values_of<std::uint32_t>(first.download(mine, 256)), content);
    }
}

TEST_CASE("objects that come and go leave the device as it was (P-29)") {
    Rig rig;
    for (int round = 0; round < 50; ++round) {
        Objects objects(rig);
        if (round % 10 == 0) objects.use();
        for (const char kind : {'c', 'p', 'b', 'q'}) objects.destroy(kind);
    }
    rig.check_works();
}

TEST_SUITE_END();
