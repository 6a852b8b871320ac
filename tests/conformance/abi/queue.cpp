// SPDX-License-Identifier: Apache-2.0
//
// Launches and their arguments, order within a queue and between queues, refusals.
#include <algorithm>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::fill;
using harness::kDeadline;
using harness::Rig;

namespace {

std::uint64_t submit(Device& device, wye_queue_object* queue,
                     std::span<const wye_operation> operations,
                     std::span<const wye_event> waits = {}) {
    REQUIRE(device.submit(operations, waits, queue) == WYE_OK);
    return device.value;
}

}  // namespace

TEST_SUITE_BEGIN("queue");

TEST_CASE("bindings begin at their offset; empty ranges may have any offset (P-24, P-28)") {
    Rig rig;
    const std::uint64_t alignment =
        std::max<std::uint64_t>(rig.plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u, 4);
    REQUIRE(alignment <= 1024);
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(1024)));
    wye_buffer_object* r = rig.zeros(4096);
    wye_program_object* program = rig.add_program();
    const std::uint32_t by = 3;
    const wye_binding bindings[] = {binding(x, 2 * alignment, 64), binding(r, alignment, 64)};
    REQUIRE(rig.device.run(harness::dispatch(program, bindings, {1, 1, 1}, &by)) == WYE_OK);
    const auto word = static_cast<std::uint32_t>(alignment / 4);
    std::vector<std::uint32_t> expected(1024);
    for (std::uint32_t i = 0; i < 64; ++i) expected[word + i] = 2 * word + i + by;
    harness::check_same(rig.words(r, 1024), expected);

    const wye_binding empty[] = {binding(x, 4096, 0), binding(r, 4, 0)};
    CHECK(rig.device.run(harness::dispatch(program, empty, {1, 1, 1}, &by)) == WYE_OK);
    harness::check_same(rig.words(r, 1024), expected);
}

TEST_CASE("launches and transfers run in the order of the submit, and of submits (P-25)") {
    Rig rig;
    constexpr std::uint32_t kCount = 4096;
    wye_buffer_object* a = rig.device.buffer(bytes_of(counting(kCount)));
    wye_buffer_object* b = rig.device.buffer(std::uint64_t{kCount} * 4);
    wye_program_object* program = rig.add_program();
    const std::uint32_t by[] = {1, 3};
    const wye_binding there[] = {binding(a, 0, kCount), binding(b, 0, kCount)};
    const wye_binding back[] = {binding(b, 0, kCount), binding(a, 0, kCount)};
    std::vector<wye_operation> chain;
    for (int i = 0; i < 20; ++i) {
        chain.push_back(harness::dispatch(program, there, {kCount / 64, 1, 1}, &by[0]));
        chain.push_back(harness::dispatch(program, back, {kCount / 64, 1, 1}, &by[1]));
        if (i == 10) chain.push_back(harness::copy(a, b, 0, 0, kCount));
    }
    REQUIRE(rig.device.submit(chain) == WYE_OK);
    for (const wye_operation& op : chain) REQUIRE(rig.device.submit({&op, 1}) == WYE_OK);
    REQUIRE(rig.device.wait() == WYE_OK);
    harness::check_same(rig.words(a, kCount), counting(kCount, 40 * 4));
}

TEST_CASE("a launch with the hint `again` has the arguments of the one before it (P-24, P-25)") {
    Rig rig;
    constexpr std::uint32_t kCount = 4096;
    wye_buffer_object* from = rig.device.buffer(bytes_of(counting(kCount)));
    wye_program_object* program = rig.add_program();
    wye_queue_object* const queues[] = {rig.device.queue, rig.device.queue_create()};
    for (const std::uint32_t by : {1U, 7U}) {
        wye_buffer_object* const to[] = {rig.zeros(kCount * 4), rig.zeros(kCount * 4)};
        const std::uint32_t other = by + 2;
        const std::uint32_t* const added[] = {&by, &other};
        std::uint64_t newest[2] = {};
        // Both queues launch the same program, each with its own arguments.
        for (int round = 0; round < 8; ++round) {
            for (std::size_t q = 0; q < 2; ++q) {
                const wye_binding bindings[] = {binding(from, 0, kCount),
                                                binding(to[q], 0, kCount)};
                wye_operation launch =
                    harness::dispatch(program, bindings, {kCount / 64, 1, 1}, added[q]);
                std::vector<wye_operation> list = {fill(to[q], 0, kCount * 4, 0, 4), launch};
                launch.u.dispatch.again = 1;
                list.insert(list.end(), 20, launch);
                newest[q] = submit(rig.device, queues[q], list);
            }
        }
        for (std::size_t q = 0; q < 2; ++q)
            REQUIRE(rig.device.await(queues[q], newest[q], kDeadline, nullptr) == WYE_OK);
        CHECK(rig.words(to[0], kCount) == counting(kCount, by));
        CHECK(rig.words(to[1], kCount) == counting(kCount, other));
    }
    rig.device.queue_table->destroy(queues[1]);
}

TEST_CASE("a launch of no workgroups has a value, and nothing runs (P-34)") {
    Rig rig;
    wye_program_object* const program = rig.add_program();
    const wye_queue_table& table = *rig.device.queue_table;
    wye_queue_object* queue = rig.device.queue;
    wye_queue_object* other = rig.device.queue_create();
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(64, 1)));
    wye_buffer_object* r = rig.zeros(256);
    const std::uint32_t by = 5;
    const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
    const wye_operation launch = harness::dispatch(program, bindings, {1, 1, 1}, &by);
    const wye_operation none = harness::dispatch(launch.u.dispatch.program, bindings, {}, &by);

    const std::uint64_t alone = submit(rig.device, queue, {&none, 1});
    CHECK(rig.device.await(queue, alone, kDeadline, nullptr) == WYE_OK);
    CHECK(rig.device.query(queue, alone, nullptr) == WYE_OK);
    const wye_operation twice[] = {none, none};
    const std::uint64_t both = submit(rig.device, queue, twice);
    CHECK(both > alone);
    const wye_event event = rig.device.event(queue, both);
    const std::uint64_t behind = submit(rig.device, other, {&none, 1}, {&event, 1});
    CHECK(rig.device.await(other, behind, kDeadline, nullptr) == WYE_OK);
    CHECK(rig.device.query(queue, both, nullptr) == WYE_OK);
    harness::check_same(rig.words(r, 64), std::vector<std::uint32_t>(64));

    const wye_operation around[] = {none, launch, none};
    CHECK(rig.device.await(queue, submit(rig.device, queue, around), kDeadline, nullptr) == WYE_OK);
    harness::check_same(rig.words(r, 64), counting(64, 6));
    table.destroy(other);
}

TEST_CASE("work of a second queue starts when what it waits for has ended (P-25)") {
    Rig rig;
    const wye_queue_table& table = *rig.device.queue_table;
    constexpr std::uint64_t kBytes = std::uint64_t{32} << 20U;
    wye_queue_object* other = rig.device.queue_create();
    wye_buffer_object* a = rig.device.buffer(kBytes);
    wye_buffer_object* b = rig.device.buffer(4);
    std::uint64_t value = 0;
    for (std::uint32_t round = 1; round <= 4; ++round) {
        const wye_operation large = fill(a, 0, kBytes, round, 4);
        REQUIRE(rig.device.submit({&large, 1}) == WYE_OK);
        const wye_event event = rig.device.event(rig.device.queue, rig.device.value);
        const wye_operation last = harness::copy(a, b, kBytes - 4, 0, 4);
        value = submit(rig.device, other, {&last, 1}, {&event, 1});
        REQUIRE(rig.device.await(other, value, kDeadline, nullptr) == WYE_OK);
        CHECK(rig.words(b, 1)[0] == round);
    }
    // A submit may have a wait and no operations.
    const wye_event event = rig.device.event(rig.device.queue, rig.device.value);
    value = submit(rig.device, other, {}, {&event, 1});
    CHECK(rig.device.await(other, value, kDeadline, nullptr) == WYE_OK);
    table.destroy(other);
}

TEST_CASE(
    "a queue has read back its bytes before another queue, which waits for it, overwrites them "
    "(P-25)") {
    Rig rig;
    const wye_queue_table& table = *rig.device.queue_table;
    wye_queue_object* other = rig.device.queue_create();
    constexpr std::uint64_t kSize = std::uint64_t{8} << 20U;
    wye_buffer_object* a = rig.device.buffer(kSize);
    std::vector<std::byte> result(kSize);
    const wye_operation first[] = {fill(a, 0, kSize, 1, 1), harness::download(a, 0, result)};
    REQUIRE(rig.device.submit(first) == WYE_OK);
    const wye_event event = rig.device.event(rig.device.queue, rig.device.value);
    const wye_operation second = fill(a, 0, kSize, 2, 1);
    const std::uint64_t value = submit(rig.device, other, {&second, 1}, {&event, 1});
    REQUIRE(rig.device.await(other, value, kDeadline, nullptr) == WYE_OK);
    REQUIRE(rig.device.await(rig.device.queue, event.value, kDeadline, nullptr) == WYE_OK);
    harness::check_same(result, std::vector<std::byte>(kSize, std::byte{1}));
    table.destroy(other);
}

TEST_CASE("an unknown operation is refused with its number, and other queues go on (P-11, P-26)") {
    Rig rig;
    wye_operation bad{};
    bad.kind = 77;
    CHECK(rig.device.submit({&bad, 1}) == WYE_UNSUPPORTED);
    harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
    CHECK(rig.device.failure.message.find("77") != std::string::npos);
    const wye_queue_table& table = *rig.device.queue_table;
    wye_queue_object* other = rig.device.queue_create();
    wye_buffer_object* a = rig.device.buffer(256);
    const wye_operation good = fill(a, 0, 256, 2, 4);
    CHECK(rig.device.await(other, submit(rig.device, other, {&good, 1}), kDeadline, nullptr) ==
          WYE_OK);
    table.destroy(other);
}

TEST_CASE("a queue says what its driver gave, and no more than was asked for (P-45)") {
    Rig rig;
    for (const std::uint32_t kind : {WYE_QUEUE_ANY, WYE_QUEUE_COMPUTE, WYE_QUEUE_TRANSFER}) {
        for (const std::int32_t priority : {INT32_MIN, -1, 0, 1, INT32_MAX}) {
            CAPTURE(kind);
            CAPTURE(priority);
            wye_queue_object* queue = rig.device.queue_create(kind, priority);
            const wye_queue_info info = rig.device.queue_info(queue);
            CHECK((info.kind == kind || info.kind == WYE_QUEUE_ANY));
            CHECK(info.priority >= std::min(priority, 0));
            CHECK(info.priority <= std::max(priority, 0));
            CHECK(info.reserved == 0);
            const wye_queue_info again = rig.device.queue_info(queue);
            CHECK(again.kind == info.kind);
            CHECK(again.priority == info.priority);
            CHECK(again.native_index == info.native_index);
            rig.device.queue_table->destroy(queue);
        }
    }
}

TEST_CASE("a queue of any kind and priority takes all work (P-45)") {
    Rig rig;
    wye_program_object* program = rig.add_program();
    for (const std::uint32_t kind : {WYE_QUEUE_ANY, WYE_QUEUE_COMPUTE, WYE_QUEUE_TRANSFER}) {
        CAPTURE(kind);
        const std::int32_t priority = kind == WYE_QUEUE_ANY ? -3 : 3;
        wye_queue_object* queue = rig.device.queue_create(kind, priority);
        wye_buffer_object* a = rig.device.buffer(4000);
        wye_buffer_object* b = rig.device.buffer(4000);
        const auto words = counting(1000, kind);
        std::vector<std::uint32_t> got(1000);
        const std::uint32_t by = 5;
        const wye_binding bindings[] = {binding(a, 0, 1000), binding(b, 0, 1000)};
        const wye_operation all[] = {
            harness::upload(a, 0, bytes_of(words)), fill(b, 0, 4000, 7, 1),
            harness::dispatch(program, bindings, {16, 1, 1}, &by), harness::copy(b, a, 0, 400, 400),
            harness::download(a, 0, std::as_writable_bytes(std::span(got)))};
        const std::uint64_t value = submit(rig.device, queue, all);
        REQUIRE(rig.device.await(queue, value, kDeadline, nullptr) == WYE_OK);
        auto expected = words;
        for (std::size_t i = 0; i < 100; ++i) expected[100 + i] = words[i] + by;
        harness::check_same(got, expected);
        rig.device.queue_table->destroy(queue);
    }
}

TEST_CASE("queues for transfers keep the order of what they wait for, timed or not (P-25, P-45)") {
    Rig rig;
    Device& device = rig.device;
    wye_program_object* program = rig.add_program();
    wye_queue_object* up = device.queue_create(WYE_QUEUE_TRANSFER);
    wye_queue_object* compute = device.queue_create(WYE_QUEUE_COMPUTE);
    wye_queue_object* down = device.queue_create(WYE_QUEUE_TRANSFER);
    constexpr std::uint32_t kWords = (1U << 19U) + 3;
    wye_buffer_object* x = device.buffer(4 * kWords);
    wye_buffer_object* r = device.buffer(4 * kWords);
    wye_buffer_object* staged = device.buffer(4 * kWords);
    const wye_binding bindings[] = {binding(x, 0, kWords), binding(r, 0, kWords)};
    wye_event last{};  // the last event of the round before
    for (std::uint32_t round = 0; round < 6; ++round) {
        CAPTURE(round);
        device.timed = round % 3 == 1;
        const auto words = counting(kWords, 1000 * round);
        std::vector<std::uint32_t> got(kWords);
        const std::uint32_t by = round + 1;
        const wye_operation sends[] = {harness::upload(staged, 0, bytes_of(words)),
                                       harness::copy(staged, x, 0, 0, 4 * kWords)};
        const std::span<const wye_event> before(&last, round == 0 ? 0 : 1);
        const wye_event sent = device.event(up, submit(device, up, sends, before));
        const wye_operation step =
            harness::dispatch(program, bindings, {(kWords + 63) / 64, 1, 1}, &by);
        const wye_event ran =
            device.event(compute, submit(device, compute, {&step, 1}, {&sent, 1}));
        const wye_operation takes[] = {
            fill(staged, 0, 64, 0, 4),
            harness::download(r, 0, std::as_writable_bytes(std::span(got)))};
        last = device.event(down, submit(device, down, takes, {&ran, 1}));
        REQUIRE(device.await(down, last.value, kDeadline, nullptr) == WYE_OK);
        harness::check_same(got, counting(kWords, 1000 * round + by));
    }
    for (wye_queue_object* queue : {down, compute, up}) device.queue_table->destroy(queue);
}

TEST_SUITE_END();
