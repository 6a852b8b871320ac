// SPDX-License-Identifier: Apache-2.0
//
// Commands: which arguments are fixed and which an execution gives, order, updates, refusals.
#include <algorithm>
#include <deque>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::Command;
using harness::copy;
using harness::counting;
using harness::fill;
using harness::Rig;

namespace {

constexpr std::uint32_t kCount = 256;
constexpr std::array<std::uint32_t, 3> kGroups = {kCount / 64, 1, 1};

wye_binding slot(std::uint32_t number, std::uint64_t offset = 0,
                 std::uint64_t size = WYE_WHOLE_SLOT, std::uint64_t elements = 0) {
    return {nullptr, offset, size, elements, number, 0, 0};
}

// Makes dispatches of the sample program, and keeps their bindings alive.
class Adds {
  public:
    explicit Adds(wye_program_object* program) : program_(program) {}
    wye_operation operator()(const wye_binding& from, const wye_binding& to,
                             const std::uint32_t* by) {
        const auto& bindings = kept_.emplace_back(std::array{from, to});
        return harness::dispatch(program_, bindings, kGroups, by);
    }
    wye_operation operator()(wye_buffer_object* from, wye_buffer_object* to) {
        static constexpr std::uint32_t kOne = 1;
        return (*this)(binding(from, 0, kCount), binding(to, 0, kCount), &kOne);
    }

  private:
    wye_program_object* program_;
    std::deque<std::array<wye_binding, 2>> kept_;
};

constexpr const char* kNoCommands = "the plugin has no commands";
bool has_commands(Rig& rig) { return rig.device.table->command_create != nullptr; }

}  // namespace

TEST_SUITE_BEGIN("command");

TEST_CASE("a command copies its description, and runs in order as often as it is executed (P-41)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    wye_program_object* program = rig.add_program();
    wye_buffer_object* a = rig.zeros(kCount * 4);
    wye_buffer_object* b = rig.zeros(kCount * 4);
    std::uint32_t by = 3;
    std::vector<wye_binding> there = {binding(a, 0, kCount), binding(b, 0, kCount)};
    std::vector<wye_operation> operations = {
        harness::dispatch(program, there, kGroups, &by),            // b = a + 3
        fill(a, 0, 64, 9, 4), copy(b, a, 64, 64, kCount * 4 - 64),  // a = b, but a[0]...a[15] = 9
    };
    const Command command(rig.device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    by = 1000;
    there.assign(2, binding(b, 0, 1));
    operations.assign(3, fill(b, 0, kCount * 4, 77, 4));
    const wye_operation execute = command.execute();
    REQUIRE(rig.device.run(execute) == WYE_OK);
    REQUIRE(rig.device.submit({&execute, 1}) == WYE_OK);
    const wye_operation twice[] = {execute, fill(a, 0, 4, 100, 4), execute};
    REQUIRE(rig.device.submit(twice) == WYE_OK);
    REQUIRE(rig.device.wait() == WYE_OK);
    std::vector<std::uint32_t> expected(kCount, 12);
    std::fill(expected.begin(), expected.begin() + 16, 12);
    expected[0] = 103;
    harness::check_same(rig.words(b, kCount), expected);
    std::fill(expected.begin(), expected.begin() + 16, 9);
    harness::check_same(rig.words(a, kCount), expected);
    CHECK(command.info().native <= 1);
}

TEST_CASE("an execution gives a command its buffers, ranges of them, and its parameters (P-42)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    const std::uint64_t alignment =
        std::max<std::uint64_t>(rig.plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u, 4);
    const auto skipped = static_cast<std::uint32_t>(alignment / 4);
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(kCount + skipped)));
    wye_buffer_object* y = rig.device.buffer(bytes_of(counting(kCount + skipped, 5000)));
    const std::uint32_t fixed = 7;
    wye_operation late = add(slot(0), slot(1), &fixed);
    late.u.dispatch.late_offset = 8;
    late.u.dispatch.late_size = 4;
    // The second range has 256 bytes, so the program sees only 64 words of that buffer.
    const wye_operation part = add(slot(1), slot(0, alignment, 256, 64), &fixed);
    wye_operation clear = fill(nullptr, 0, 16, 3, 4);
    clear.u.fill.target_slot = 1;
    wye_operation move = copy(nullptr, nullptr, 0, 32, 16);
    move.u.copy.source_slot = 0;
    move.u.copy.target_slot = 1;
    const wye_operation operations[] = {late, clear, move};
    const Command command(rig.device, operations, 2, 16);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const Command parts(rig.device, {&part, 1}, 2, 0);
    REQUIRE_MESSAGE(parts.status == WYE_OK, parts.failure.message);
    const wye_command_info info = parts.info();
    MESSAGE("native ", info.native, ", late_slots ", info.late_slots, ", most_pending ",
            info.most_pending);
    CHECK(info.late_slots >= WYE_LATE_ARGUMENT);
    CHECK(info.late_slots <= WYE_LATE_RECORD);
    for (const auto& [source, first] : {std::pair(x, 0U), std::pair(y, 5000U), std::pair(x, 0U)}) {
        wye_buffer_object* r = rig.zeros(kCount * 4);
        const wye_binding slots[] = {binding(source, alignment, kCount), binding(r, 0, kCount - 1)};
        alignas(8) const std::uint32_t params[4] = {1, 2, first + 10, 3};
        REQUIRE(rig.device.run(command.execute(slots, params)) == WYE_OK);
        auto expected = counting(kCount, first + skipped + first + 10);
        expected.back() = 0;
        std::fill(expected.begin(), expected.begin() + 4, 3);
        const auto copied = counting(4, first + skipped);
        std::copy(copied.begin(), copied.end(), expected.begin() + 8);
        harness::check_same(rig.words(r, kCount), expected);

        wye_buffer_object* wide = rig.zeros(alignment + kCount * 4);
        const wye_binding ranges[] = {binding(wide, 0, skipped + kCount), binding(r, 0, kCount)};
        REQUIRE(rig.device.run(parts.execute(ranges)) == WYE_OK);
        auto seen = rig.words(wide, skipped + kCount);
        for (std::uint32_t i = 0; i < skipped; ++i) CHECK(seen[i] == 0);
        for (std::uint32_t i = 0; i < kCount; ++i)
            CHECK(seen[skipped + i] == (i < 64 ? expected[i] + 7 : 0));
    }
}

TEST_CASE("a new buffer is not taken for a destroyed one at the same address (P-42)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(kCount)));
    const std::uint32_t by = 5;
    const wye_operation op = add(binding(x, 0, kCount), slot(0), &by);
    const Command command(rig.device, {&op, 1}, 1, 0);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    for (std::uint64_t larger = 1; larger <= 64; larger *= 4) {
        // The new buffer object may have the address of the previous one, which was destroyed, but
        // its memory has another size.
        wye_buffer_object* r = rig.zeros(kCount * 4 * larger);
        const wye_binding slots[] = {binding(r, 0, kCount)};
        REQUIRE(rig.device.run(command.execute(slots)) == WYE_OK);
        harness::check_same(rig.words(r, kCount), counting(kCount, 5));
        rig.device.destroy(r);
    }
}

TEST_CASE("executions with other parameters follow each other without a wait in between (P-42)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(kCount)));
    wye_operation op = add(binding(x, 0, kCount), slot(0), nullptr);
    op.u.dispatch.late_size = 4;
    const Command command(rig.device, {&op, 1}, 1, 8);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const std::uint64_t most = command.info().most_pending;
    std::vector<wye_buffer_object*> results;
    std::vector<std::uint64_t> values;
    for (std::uint32_t i = 0; i < 50; ++i) {
        results.push_back(rig.device.buffer(kCount * 4));
        const wye_binding slots[] = {binding(results.back(), 0, kCount)};
        alignas(8) std::uint32_t params[2] = {i * 100, 0};
        const wye_operation execute = command.execute(slots, params);
        if (most != 0 && values.size() >= most)
            REQUIRE(rig.device.await(rig.device.queue, values[values.size() - most],
                                     harness::kDeadline, nullptr) == WYE_OK);
        REQUIRE(rig.device.submit({&execute, 1}) == WYE_OK);
        params[0] = 0xdead;  // borrowed for the call only
        values.push_back(rig.device.value);
    }
    REQUIRE(rig.device.wait() == WYE_OK);
    for (std::uint32_t i = 0; i < 50; ++i)
        harness::check_same(rig.words(results[i], kCount), counting(kCount, i * 100));
}

TEST_CASE("an execution gives the grid (P-42)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(kCount)));
    wye_buffer_object* r = rig.device.buffer(kCount * 4);
    const std::uint32_t by = 1;
    wye_operation op = add(binding(x, 0, kCount), binding(r, 0, kCount), &by);
    op.u.dispatch.flags = WYE_LAUNCH_LATE_GRID;
    op.u.dispatch.grid_offset = 4;
    const Command command(rig.device, {&op, 1}, 0, 40);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    for (const std::uint32_t groups : {2U, 4U, 1U, 3U}) {
        REQUIRE(rig.device.run(fill(r, 0, kCount * 4, 0, 4)) == WYE_OK);
        alignas(8) const std::uint32_t params[10] = {0, groups, 1, 1, 0, 0, 0, groups, 1, 1};
        REQUIRE(rig.device.run(command.execute({}, params)) == WYE_OK);
        auto expected = counting(kCount, 1);
        std::fill(expected.begin() + groups * 64, expected.end(), 0);
        harness::check_same(rig.words(r, kCount), expected);
    }
}

TEST_CASE("edges order the operations of a command (P-43)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* a = rig.zeros(kCount * 4);
    wye_buffer_object* b = rig.zeros(kCount * 4);
    wye_buffer_object* c = rig.zeros(kCount * 4);
    const wye_operation operations[] = {fill(a, 0, kCount * 4, 40, 4),
                                        fill(b, 0, kCount * 4, 50, 4), add(a, c),
                                        copy(b, a, 0, 0, 64), add(c, b)};
    const wye_edge edges[] = {{0, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}};
    const Command command(rig.device, operations, 0, 0, edges, WYE_COMMAND_EDGES);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    for (int round = 0; round < 3; ++round) {
        REQUIRE(rig.device.run(command.execute()) == WYE_OK);
        harness::check_same(rig.words(c, kCount), std::vector<std::uint32_t>(kCount, 41));
        harness::check_same(rig.words(b, kCount), std::vector<std::uint32_t>(kCount, 42));
        std::vector<std::uint32_t> expected(kCount, 40);
        std::fill(expected.begin(), expected.begin() + 16, 50);
        harness::check_same(rig.words(a, kCount), expected);
    }
}

TEST_CASE("an updated operation takes the place of the old one, and of no other (P-44)") {
    Rig rig;
    if (!has_commands(rig) || rig.device.table->command_update == nullptr)
        return harness::not_applicable("the plugin has no command_update");
    Adds add(rig.add_program());
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(kCount)));
    wye_buffer_object* y = rig.device.buffer(bytes_of(counting(kCount, 900)));
    wye_buffer_object* r = rig.zeros(kCount * 4);
    wye_buffer_object* s = rig.zeros(kCount * 4);
    const wye_operation operations[] = {add(x, r), add(x, s), fill(s, 0, 4, 5, 4)};
    Command command(rig.device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    REQUIRE(command.update(1, add(y, s)) == WYE_OK);
    REQUIRE(command.update(2, fill(s, 4, 4, 6, 4)) == WYE_OK);
    REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    harness::check_same(rig.words(r, kCount), counting(kCount, 1));
    auto expected = counting(kCount, 901);
    expected[1] = 6;
    harness::check_same(rig.words(s, kCount), expected);
}

TEST_CASE("a command of transfers is refused, and an empty command runs (P-41)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    wye_buffer_object* a = rig.zeros(256);
    const auto words = counting(4);
    const wye_operation up = harness::upload(a, 0, bytes_of(words));
    const Command refused(rig.device, {&up, 1});
    CHECK(refused.status == WYE_UNSUPPORTED);
    harness::check_helpful(refused.failure, WYE_UNSUPPORTED);
    const Command empty(rig.device, {});
    REQUIRE_MESSAGE(empty.status == WYE_OK, empty.failure.message);
    CHECK(rig.device.run(empty.execute()) == WYE_OK);
}

TEST_CASE("an execution with unknown parts is refused, also after others (P-7, P-41)") {
    Rig rig;
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* a = rig.zeros(kCount * 4);
    wye_buffer_object* b = rig.zeros(kCount * 4);
    const wye_operation operation = add(a, b);
    const Command command(rig.device, {&operation, 1});
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const wye_binding flagged = {a, 0, kCount * 4, kCount, 0, WYE_FIRST_VENDOR, 0};
    wye_operation slots = command.execute();
    slots.u.execute.slots = &flagged;
    slots.u.execute.slot_count = 1;
    wye_operation flags = command.execute();
    flags.flags = WYE_FIRST_VENDOR;
    const wye_header critical = {sizeof critical, (WYE_FIRST_VENDOR - 2) | WYE_CHAIN_CRITICAL,
                                 nullptr};
    wye_operation chained = command.execute();
    chained.next = &critical;
    const wye_operation plain = command.execute();
    wye_submission typed{};
    typed.header = {sizeof typed, 77, nullptr};
    typed.operations = &plain;
    typed.operation_count = 1;
    // All refusals are repeated, since a plugin may shorten its checks for a command that has run
    // before.
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        CHECK(rig.device.submit({&slots, 1}) == WYE_UNSUPPORTED);
        CHECK(rig.device.submit({&flags, 1}) == WYE_UNSUPPORTED);
        CHECK(rig.device.submit({&chained, 1}) == WYE_UNSUPPORTED_EXTENSION);
        typed.value = ++rig.device.newest;
        CHECK(rig.device.queue_table->submit(rig.device.queue, &typed, nullptr) == WYE_UNSUPPORTED);
        REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    }
    harness::check_same(rig.words(b, kCount), std::vector<std::uint32_t>(kCount, 1));
}

TEST_CASE("a command of many operations runs whole, and its time covers all operations (P-41)") {
    Rig rig(true);
    if (!has_commands(rig)) return harness::not_applicable(kNoCommands);
    Adds add(rig.add_program());
    wye_buffer_object* a = rig.zeros(kCount * 4);
    wye_buffer_object* b = rig.zeros(kCount * 4);
    std::vector<wye_operation> operations;
    for (int i = 0; i < 500; ++i) {
        operations.push_back(add(a, b));
        operations.push_back(add(b, a));
    }
    const Command command(rig.device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    harness::check_same(rig.words(a, kCount), std::vector<std::uint32_t>(kCount, 1000));
    rig.device.timed = true;
    REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    if (rig.device.queue_table->timing != nullptr) {
        wye_timing time{};
        time.header.size = sizeof time;
        REQUIRE(rig.device.queue_table->timing(rig.device.queue, rig.device.value, &time,
                                               nullptr) == WYE_OK);
        CHECK(time.device_ns > 1000);
    }
    harness::check_same(rig.words(a, kCount), std::vector<std::uint32_t>(kCount, 2000));
}

TEST_SUITE_END();
