// SPDX-License-Identifier: Apache-2.0
//
// Commands: how often they are recorded, and that their results do not depend on this. Some tests
// also run with a loader that claims that descriptor sets can be written late, in case the driver
// does not claim it.
#include <algorithm>

#include "checked.hpp"
#include "vulkan/lossy_loader.hpp"
#include "wye/sdk/plugin.hpp"

using harness::binding;
using harness::bytes_of;
using harness::Command;
using harness::copy;
using harness::counting;
using harness::Device;
using harness::fill;
using harness::values_of;

namespace {

constexpr std::uint32_t kCount = 256;
constexpr std::uint32_t kGroups = kCount / 64;

const lossy_vulkan::Control& loader() {
    static const auto& control =
        harness::control_of<lossy_vulkan::Control>(WYE_LOSSY_VULKAN, "lossy_vulkan_control");
    return control;
}

std::map<std::string, std::string> config(bool claims) {
    loader().reset();
    if (!claims) return {};
    loader().claim_late_descriptors();
    return {{"vulkan.library", WYE_LOSSY_VULKAN}, {"vulkan.validation", "0"}};
}

wye_binding slot(std::uint32_t number) { return {nullptr, 0, WYE_WHOLE_SLOT, 0, number, 0, 0}; }

struct Rig {
    explicit Rig(bool claims = false) : plugin(config(claims)) {}

    CheckedPlugin plugin;
    Device device{plugin};
    wye_buffer_object* trap = device.buffer(bytes_of(std::vector<std::uint32_t>(2)));

    wye_program_object* program(const std::string& name, std::span<const wye_slot> slots,
                                std::uint32_t bindings, std::uint32_t workgroup,
                                std::uint32_t params_size) {
        const std::string words = module_words(name);
        wye_program_object* out = device.program(
            harness::artifact(words, "main", slots, bindings, workgroup, params_size));
        REQUIRE_MESSAGE(out != nullptr, device.failure.message);
        return out;
    }
    // `slots.spvasm`: r[i] = x[i] + step + groups * 1000
    wye_program_object* slots_program() { return program("slots", kSlots, 2, 64, 4); }
    // `large_block.spvasm`: r[i] = params[i % 128]
    wye_program_object* large_program() { return program("large_block", kLargeSlots, 1, 64, 512); }
    // `slow.spvasm`, one word for each workgroup
    wye_program_object* slow_program() { return program("slow", kSlowSlots, 1, 1, 4); }

    wye_operation add(wye_program_object* of, std::span<const wye_binding> bindings,
                      const std::uint32_t* step, std::uint32_t groups = kGroups) const {
        wye_operation op = harness::dispatch(of, bindings, {groups, 1, 1}, step);
        op.u.dispatch.trap = wye::sdk::binding_of(trap, 0, 8, 2);
        return op;
    }
    wye_buffer_object* counted(std::uint32_t from = 0, std::uint32_t count = kCount) {
        return device.buffer(bytes_of(counting(count, from)));
    }
    wye_buffer_object* zeros(std::uint32_t count = kCount) {
        return device.buffer(bytes_of(std::vector<std::uint32_t>(count)));
    }
    std::vector<std::uint32_t> words(wye_buffer_object* buffer, std::uint32_t count = kCount) {
        return values_of<std::uint32_t>(device.download(buffer, count * 4));
    }
    // Returns the result of `slots` on counting(kCount, from).
    static std::vector<std::uint32_t> added(std::uint32_t from, std::uint32_t step) {
        return counting(kCount, from + step + kGroups * 1000);
    }
};

}  // namespace

TEST_CASE("a command with nothing late is recorded once, whatever it is submitted with") {
    Rig rig;
    Device& device = rig.device;
    wye_program_object* program = rig.slots_program();
    wye_buffer_object* a = rig.counted();
    wye_buffer_object* b = rig.zeros();
    wye_buffer_object* c = rig.zeros();
    const std::uint32_t step = 5;
    const wye_binding there[] = {binding(a, 0, kCount), binding(b, 0, kCount)};
    // a = b = a + 4005, c = a; the last three bytes of c are 7
    const wye_operation operations[] = {rig.add(program, there, &step),
                                        copy(b, a, 0, 0, kCount * 4), copy(a, c, 0, 0, kCount * 4),
                                        fill(c, kCount * 4 - 3, 3, 7, 1)};
    const Command command(device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    CHECK(command.info().native == 1);
    CHECK(command.info().most_pending == 0);
    CHECK(command.info().recordings == 0);
    const wye_operation execute = command.execute();
    std::uint32_t from = 0;
    const auto check = [&](std::uint32_t executions) {
        from += executions * 4005;
        CHECK(rig.words(a) == counting(kCount, from));
        CHECK(command.info().recordings == 1);
    };
    REQUIRE(device.run(execute) == WYE_OK);
    check(1);
    auto ended = counting(kCount, from);
    ended.back() = 0x07070700U | (ended.back() & 0xffU);
    CHECK(rig.words(c) == ended);

    device.timed = true;
    for (int round = 0; round < 3; ++round) {
        REQUIRE(device.run(execute) == WYE_OK);
        wye_timing time{};
        time.header.size = sizeof time;
        REQUIRE(device.queue_table->timing(device.queue, device.value, &time, nullptr) == WYE_OK);
        CHECK(time.device_ns > 100);
    }
    device.timed = false;
    check(3);

    // Here the command is pending several times, in one submit and in many, on two queues.
    wye_queue_object* other = device.queue_create();
    for (std::uint32_t round = 0; round < 10; ++round) {
        const wye_operation twice[] = {execute, execute};
        REQUIRE(device.submit(twice) == WYE_OK);
        const wye_event after = device.event(device.queue, device.value);
        REQUIRE(device.submit({&execute, 1}, {&after, 1}, other) == WYE_OK);
        const wye_event there_too = device.event(other, device.value);
        REQUIRE(device.submit({&execute, 1}, {&there_too, 1}) == WYE_OK);
    }
    REQUIRE(device.wait() == WYE_OK);
    check(40);

    // Here the command runs between other operations.
    std::vector<std::byte> middle(kCount * 4), end(kCount * 4);
    const auto fresh = counting(kCount, 70);
    for (const bool timed : {false, true, false}) {
        device.timed = timed;
        const wye_operation steps[] = {harness::upload(a, 0, bytes_of(fresh)),
                                       execute,
                                       harness::download(a, 0, middle),
                                       fill(a, 0, kCount * 4, 9, 4),
                                       execute,
                                       execute,
                                       copy(a, b, 0, 0, 16),
                                       harness::download(b, 0, end)};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        CHECK(values_of<std::uint32_t>(middle) == counting(kCount, 70 + 4005));
        CHECK(values_of<std::uint32_t>(end) == std::vector<std::uint32_t>(kCount, 9 + 2 * 4005));
    }
    device.timed = false;
    CHECK(command.info().recordings == 1);
    device.queue_table->destroy(other);
    CHECK(device.run(execute) == WYE_OK);
}

TEST_CASE("a semaphore lives while a pending submit of another queue waits for it") {
    CheckedPlugin plugin;
    Device device(plugin);
    constexpr std::uint64_t kBytes = std::uint64_t{4} << 20U;
    wye_buffer_object* a = device.buffer(kBytes);
    wye_buffer_object* b = device.buffer(kBytes);
    const std::vector<wye_operation> slow(200, fill(b, 0, kBytes, 1, 4));
    for (std::uint64_t round = 0; round < 3; ++round) {
        wye_queue_object* ends = device.queue_create();
        const wye_operation first = fill(a, 0, kBytes, round, 4);
        REQUIRE(device.submit({&first, 1}, {}, ends) == WYE_OK);
        const std::uint64_t value = device.value;
        REQUIRE(device.submit(slow) == WYE_OK);
        const wye_event event = device.event(ends, value);
        const wye_operation after = copy(a, b, 0, 0, kBytes);
        REQUIRE(device.submit({&after, 1}, {&event, 1}) == WYE_OK);
        REQUIRE(device.await(ends, value, UINT64_MAX, nullptr) == WYE_OK);
        device.queue_table->destroy(ends);
        REQUIRE(device.wait() == WYE_OK);
        CHECK(values_of<std::uint32_t>(device.download(b, kBytes)) ==
              std::vector<std::uint32_t>(kBytes / 4, static_cast<std::uint32_t>(round)));
    }
}

TEST_CASE("equal operations before a command are recorded once, as submits without one are") {
    loader().reset();
    CheckedPlugin plugin(std::map<std::string, std::string>{{"vulkan.library", WYE_LOSSY_VULKAN}});
    Device device(plugin);
    wye_buffer_object* a = device.buffer(bytes_of(std::vector<std::uint32_t>(kCount)));
    wye_buffer_object* b = device.buffer(kCount * 4);
    const wye_operation operations[] = {copy(a, b, 0, 0, kCount * 4), fill(a, 0, 4, 77, 4)};
    const Command command(device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const auto run = [&](std::span<const wye_operation> steps, std::uint64_t recordings) {
        const std::uint64_t before = loader().recordings();
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        CHECK(loader().recordings() - before == recordings);
    };
    const auto content = [&](wye_buffer_object* buffer) {
        return values_of<std::uint32_t>(device.download(buffer, kCount * 4));
    };
    for (const std::uint32_t round : {0U, 1U, 2U, 3U}) {
        device.timed = round >= 2;
        for (const std::uint32_t word : {5U, 6U}) {
            const wye_operation steps[] = {fill(a, 0, kCount * 4, word, 4), command.execute()};
            // The first round records each fill, and the command once. The first timed submit
            // records two timestamps. All other submits record nothing.
            run(steps, round == 0 ? 1 + (word == 5 ? 1 : 0) : round == 2 && word == 5 ? 2 : 0);
            CHECK(content(b) == std::vector<std::uint32_t>(kCount, word));
            run({steps, 1}, 0);
            CHECK(content(a) == std::vector<std::uint32_t>(kCount, word));
        }
    }
    // Operations without work before the command have no command buffer, and change nothing here.
    const wye_operation nothing = copy(a, b, 0, 0, 0);
    for (const std::uint32_t word : {8U, 9U}) {
        const wye_operation steps[] = {nothing, command.execute(), fill(b, 0, kCount * 4, word, 4)};
        run(steps, 1);
        CHECK(content(b) == std::vector<std::uint32_t>(kCount, word));
    }
    run({&nothing, 1}, 0);
    CHECK(content(b) == std::vector<std::uint32_t>(kCount, 9));
    CHECK(command.info().recordings == 1);
}

TEST_CASE("what executions give is recorded again if it differs, or written to sets") {
    for (const bool claims : {false, true}) {
        CAPTURE(claims);
        Rig rig(claims);
        Device& device = rig.device;
        const wye_binding late[] = {slot(0), slot(1)};
        const std::uint32_t unused = 0;
        wye_operation op = rig.add(rig.slots_program(), late, &unused);
        op.u.dispatch.late_offset = 4;
        op.u.dispatch.late_size = 4;
        const Command command(device, {&op, 1}, 2, 8);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        const wye_command_info info = command.info();
        CHECK(info.late_params == WYE_LATE_RECORD);
        CHECK((info.late_slots == WYE_LATE_PATCH || info.late_slots == WYE_LATE_RECORD));
        if (claims) CHECK(info.late_slots == WYE_LATE_PATCH);
        CHECK(info.most_pending == 1);
        const bool patches = info.late_slots == WYE_LATE_PATCH;
        std::uint64_t expected = 0, noise = 0;  // `noise` fills a word that nothing reads
        const auto run = [&](wye_buffer_object* x, wye_buffer_object* r, std::uint32_t step,
                             std::uint64_t count, bool recorded) {
            if (recorded) ++expected;
            const wye_binding slots[] = {binding(x, 0, kCount), binding(r, 0, count)};
            alignas(8) const std::uint32_t params[2] = {static_cast<std::uint32_t>(noise++), step};
            REQUIRE(device.run(fill(r, 0, kCount * 4, 1, 4)) == WYE_OK);
            REQUIRE(device.run(command.execute(slots, params)) == WYE_OK);
            CHECK(command.info().recordings == expected);
        };
        wye_buffer_object* x = rig.counted(100);
        wye_buffer_object* y = rig.counted(9000);
        wye_buffer_object* r = rig.zeros();
        wye_buffer_object* s = rig.zeros();
        run(x, r, 1, kCount, true);
        CHECK(rig.words(r) == Rig::added(100, 1));
        run(x, r, 1, kCount, false);
        CHECK(rig.words(r) == Rig::added(100, 1));
        run(x, r, 2, kCount, true);  // other push constants
        CHECK(rig.words(r) == Rig::added(100, 2));
        run(y, r, 2, kCount, !patches);
        CHECK(rig.words(r) == Rig::added(9000, 2));
        run(y, s, 2, kCount, !patches);
        CHECK(rig.words(s) == Rig::added(9000, 2));
        CHECK(rig.words(r) == Rig::added(9000, 2));
        run(y, s, 2, kCount - 1, true);  // another length
        auto shorter = Rig::added(9000, 2);
        shorter.back() = 1;
        CHECK(rig.words(s) == shorter);
        // A new buffer, perhaps at the address of one that is gone.
        device.destroy(y);
        y = rig.counted(500);
        run(y, s, 2, kCount - 1, !patches);
        shorter = Rig::added(500, 2);
        shorter.back() = 1;
        CHECK(rig.words(s) == shorter);
    }
}

TEST_CASE("buffers that are the same in one execution only are kept apart in others") {
    for (const bool claims : {false, true}) {
        CAPTURE(claims);
        Rig rig(claims);
        wye_program_object* program = rig.slots_program();
        const std::uint32_t step = 1;
        const wye_binding first[] = {slot(0), slot(1)};
        const wye_binding second[] = {slot(2), slot(3)};
        const wye_operation operations[] = {rig.add(program, first, &step),
                                            rig.add(program, second, &step)};
        const Command command(rig.device, operations, 4);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        wye_buffer_object* x = rig.counted();
        wye_buffer_object* y = rig.counted(50);
        wye_buffer_object* r = rig.zeros();
        wye_buffer_object* s = rig.zeros();
        const auto run = [&](std::array<wye_buffer_object*, 4> buffers) {
            std::array<wye_binding, 4> slots;
            for (std::size_t i = 0; i < 4; ++i) slots[i] = binding(buffers[i], 0, kCount);
            REQUIRE(rig.device.run(command.execute(slots)) == WYE_OK);
        };
        run({x, r, x, r});
        CHECK(rig.words(r) == Rig::added(0, 1));
        run({x, r, y, s});
        CHECK(rig.words(r) == Rig::added(0, 1));
        CHECK(rig.words(s) == Rig::added(50, 1));
        run({y, r, r, s});  // the second dispatch depends on the first
        CHECK(rig.words(r) == Rig::added(50, 1));
        CHECK(rig.words(s) == Rig::added(50 + 4001, 1));
        if (command.info().late_slots == WYE_LATE_PATCH) CHECK(command.info().recordings == 1);
    }
}

TEST_CASE("large blocks and the groups of programs that do not know them are memory") {
    Rig rig;
    Device& device = rig.device;
    wye_buffer_object* r = rig.zeros(1024);
    const wye_binding bindings[] = {binding(r, 0, 1000)};
    const auto described = counting(128, 40);
    wye_operation op =
        harness::dispatch(rig.large_program(), bindings, {16, 1, 1}, described.data(), 512);
    op.u.dispatch.flags = WYE_LAUNCH_LATE_GRID;
    op.u.dispatch.grid_offset = 0;
    op.u.dispatch.late_offset = 40;
    op.u.dispatch.late_size = 256;
    Command command(device, {&op, 1}, 0, 40 + 256);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    CHECK(command.info().late_params == WYE_LATE_MEMORY);
    CHECK(command.info().late_grid == WYE_LATE_MEMORY);
    const auto execute = [&](std::uint32_t groups, std::uint32_t logical, std::uint32_t from) {
        std::vector<std::uint64_t> block((40 + 256) / 8);
        const std::uint32_t grid[] = {groups, 1, 1, 0, 0, 0, logical, 1, 1};
        std::memcpy(block.data(), grid, sizeof grid);
        const auto params = counting(64, from);
        std::memcpy(block.data() + 5, params.data(), 256);
        REQUIRE(device.run(fill(r, 0, 4096, 3, 4)) == WYE_OK);
        return device.run(command.execute({}, block.data()));
    };
    for (const std::uint32_t groups : {16U, 3U, 0U, 16U, 1U}) {
        CAPTURE(groups);
        const std::uint32_t from = groups * 10000;
        REQUIRE(execute(groups, groups, from) == WYE_OK);
        const auto out = rig.words(r, 1024);
        for (std::uint32_t i = 0; i < 1024; ++i) {
            const bool written = i < 1000 && i < groups * 64;
            const std::uint32_t k = i % 128;
            CHECK(out[i] == (written ? k < 64 ? from + k : 40 + k : 3));
        }
    }
    CHECK(command.info().recordings == 1);
    // The program has no grid slot, so it cannot run a part of a grid.
    CHECK(execute(2, 5, 0) == WYE_UNSUPPORTED);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    CHECK(execute(2, 2, 7) == WYE_OK);
    CHECK(rig.words(r, 1024)[63] == 7 + 63);
    CHECK(command.info().recordings == 2);
}

TEST_CASE("a grid in push constants is recorded again if it differs") {
    Rig rig;
    wye_buffer_object* x = rig.counted();
    wye_buffer_object* r = rig.zeros();
    const wye_binding bindings[] = {binding(x, 0, kCount), binding(r, 0, kCount)};
    const std::uint32_t step = 1;
    wye_operation op = rig.add(rig.slots_program(), bindings, &step);
    op.u.dispatch.flags = WYE_LAUNCH_LATE_GRID;
    const Command command(rig.device, {&op, 1}, 0, 40);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    CHECK(command.info().late_grid == WYE_LATE_RECORD);
    struct Part {
        std::uint32_t groups, first, logical;
        std::uint64_t recordings;
    };
    for (const Part& part : {Part{2, 0, 4, 1}, Part{2, 0, 4, 1}, Part{2, 1, 4, 2}, Part{3, 1, 4, 3},
                             Part{3, 1, 9, 4}}) {
        alignas(8) const std::uint32_t grid[10] = {part.groups,  1, 1, part.first, 0, 0,
                                                   part.logical, 1, 1, 0};
        REQUIRE(rig.device.run(fill(r, 0, kCount * 4, 0, 4)) == WYE_OK);
        REQUIRE(rig.device.run(command.execute({}, grid)) == WYE_OK);
        CHECK(command.info().recordings == part.recordings);
        const auto out = rig.words(r);
        for (std::uint32_t i = 0; i < kCount; ++i) {
            const bool runs = i / 64 >= part.first && i / 64 < part.first + part.groups;
            CHECK(out[i] == (runs ? i + 1 + part.logical * 1000 : 0));
        }
    }
}

TEST_CASE("copies and fills take late buffers, and their ranges where these begin") {
    for (const bool claims : {false, true}) {
        CAPTURE(claims);
        Rig rig(claims);
        wye_operation clear = fill(nullptr, 1, 6, 0xab, 1);
        clear.u.fill.target_slot = 1;
        wye_operation wide = fill(nullptr, 64, 32, 0x1111111122222222, 8);
        wide.u.fill.target_slot = 1;
        wye_operation move = copy(nullptr, nullptr, 16, 128, 64);
        move.u.copy.source_slot = 0;
        move.u.copy.target_slot = 1;
        wye_operation nothing = copy(nullptr, nullptr, 0, 0, 0);
        nothing.u.copy.source_slot = nothing.u.copy.target_slot = 0;
        const wye_operation operations[] = {clear, wide, move, nothing};
        const Command command(rig.device, operations, 2);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        CHECK(command.info().late_slots == WYE_LATE_RECORD);
        std::uint64_t recordings = 0;
        for (const std::uint64_t shift : {0, 0, 3, 256, 5}) {
            wye_buffer_object* from = rig.counted(100);
            wye_buffer_object* to = rig.zeros();
            const wye_binding slots[] = {{from, shift / 4 * 4, 512, 128, 0, 0, 0},
                                         {to, shift, 512, 128, 0, 0, 0}};
            REQUIRE(rig.device.run(command.execute(slots)) == WYE_OK);
            REQUIRE(rig.device.run(command.execute(slots)) == WYE_OK);
            CHECK(command.info().recordings == ++recordings);
            std::vector<std::byte> expected(kCount * 4);
            std::fill_n(expected.begin() + shift + 1, 6, std::byte{0xab});
            for (int i = 0; i < 32; ++i)
                expected[shift + 64 + i] = i % 8 < 4 ? std::byte{0x22} : std::byte{0x11};
            const auto words = counting(16, 100 + (shift / 4 * 4 + 16) / 4);
            std::memcpy(expected.data() + shift + 128, words.data(), 64);
            CHECK(rig.device.download(to, kCount * 4) == expected);
        }
    }
}

TEST_CASE("an updated command is recorded again, once") {
    for (const bool claims : {false, true}) {
        CAPTURE(claims);
        Rig rig(claims);
        wye_program_object* program = rig.slots_program();
        wye_buffer_object* x = rig.counted();
        wye_buffer_object* r = rig.zeros();
        const std::uint32_t step = 1, other = 70;
        const wye_binding fixed[] = {binding(x, 0, kCount), binding(r, 0, kCount)};
        const wye_binding late[] = {binding(x, 0, kCount), slot(1)};
        const wye_operation operations[] = {fill(r, 0, kCount * 4, 0, 4),
                                            rig.add(program, fixed, &step)};
        Command command(rig.device, operations, 2, 8);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        wye_buffer_object* s = rig.zeros();
        const wye_binding slots[] = {binding(x, 0, kCount), binding(s, 0, kCount)};
        alignas(8) const std::uint32_t params[2] = {30, 0};
        const auto run = [&](std::uint64_t recordings) {
            for (int round = 0; round < 2; ++round)
                REQUIRE(rig.device.run(command.execute(slots, params)) == WYE_OK);
            CHECK(command.info().recordings == recordings);
        };
        run(1);
        CHECK(rig.words(r) == Rig::added(0, 1));
        REQUIRE(command.update(1, rig.add(program, fixed, &other)) == WYE_OK);
        run(2);
        CHECK(rig.words(r) == Rig::added(0, 70));
        CHECK(command.info().most_pending == 0);
        // From now on an execution gives a buffer and the parameters.
        wye_operation op = rig.add(program, late, &step);
        op.u.dispatch.late_size = 4;
        REQUIRE(command.update(1, op) == WYE_OK);
        CHECK(command.info().most_pending == 1);
        CHECK(command.info().late_params == WYE_LATE_RECORD);
        CHECK(command.info().late_slots != WYE_LATE_ARGUMENT);
        run(3);
        CHECK(rig.words(s) == Rig::added(0, 30));
        CHECK(rig.words(r) == std::vector<std::uint32_t>(kCount));
        // Operations of other kinds are refused, and nothing changes.
        std::vector<std::byte> bytes(16);
        CHECK(command.update(0, harness::download(r, 0, bytes)) == WYE_UNSUPPORTED);
        run(3);
    }
}

// Hosts must keep to `most_pending` and destroy no pending command. The plugin waits even if a host
// does not.
TEST_CASE("a pending recording is neither changed nor destroyed") {
    for (const bool claims : {false, true}) {
        CAPTURE(claims);
        Rig rig(claims);
        Device& device = rig.device;
        constexpr std::uint32_t kWords = 2000;
        constexpr std::uint32_t kRounds[] = {3000, 7, 2000, 11};
        const wye_binding late[] = {slot(0)};
        wye_operation op = harness::dispatch(rig.slow_program(), late, {kWords, 1, 1});
        const std::uint32_t unused = 0;
        op.u.dispatch.params = &unused;
        op.u.dispatch.late_size = 4;
        Command command(device, {&op, 1}, 1, 8);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        std::vector<wye_buffer_object*> results;
        std::vector<std::array<wye_binding, 1>> slots;
        std::vector<std::array<std::uint64_t, 1>> params;
        for (const std::uint32_t rounds : kRounds) {
            results.push_back(device.buffer(bytes_of(std::vector<std::uint32_t>(kWords, 12345))));
            slots.push_back({binding(results.back(), 0, kWords)});
            params.push_back({rounds});
        }
        const auto execute = [&](std::size_t n) {
            return command.execute(slots[n], params[n].data());
        };
        // Two commands run one after the other, and then two in one submit.
        for (const std::size_t n : {0, 1}) {
            const wye_operation one = execute(n);
            REQUIRE(device.submit({&one, 1}) == WYE_OK);
        }
        const wye_operation both[] = {execute(2), execute(3)};
        REQUIRE(device.submit(both) == WYE_OK);
        command.destroy();
        REQUIRE(device.wait() == WYE_OK);
        for (std::size_t n = 0; n < results.size(); ++n) {
            std::uint32_t v = 12345;
            for (std::uint32_t i = 0; i < kRounds[n]; ++i) v = v * 1664525U + (v >> 16U) + i;
            CHECK(rig.words(results[n], kWords) == std::vector<std::uint32_t>(kWords, v));
        }
    }
}

TEST_CASE("an execution that is refused leaves its command usable") {
    Rig rig;
    const std::uint64_t alignment =
        std::max<std::uint64_t>(rig.plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u, 4);
    if (alignment <= 4) return;
    const wye_binding late[] = {slot(0), slot(1)};
    const std::uint32_t step = 1;
    const wye_operation op = rig.add(rig.slots_program(), late, &step);
    const Command command(rig.device, {&op, 1}, 2);
    wye_buffer_object* x = rig.counted(0, kCount + 64);
    wye_buffer_object* r = rig.zeros();
    for (const std::uint64_t offset : {std::uint64_t{4}, alignment, std::uint64_t{4}, alignment}) {
        const wye_binding slots[] = {binding(x, offset, kCount - 64), binding(r, 0, kCount - 64)};
        const wye_operation steps[] = {fill(r, 0, 4, 1, 4), command.execute(slots)};
        REQUIRE(rig.device.run(fill(r, 0, kCount * 4, 0, 4)) == WYE_OK);
        const wye_status status = rig.device.submit(steps);
        if (offset == 4) {
            CHECK(status == WYE_INVALID_ARGUMENT);
            CHECK(rig.words(r) == std::vector<std::uint32_t>(kCount));
            continue;
        }
        REQUIRE(status == WYE_OK);
        REQUIRE(rig.device.wait() == WYE_OK);
        const auto first = static_cast<std::uint32_t>(alignment / 4);
        auto expected = counting(kCount, first + 1 + 4000);
        std::fill(expected.end() - 64, expected.end(), 0);
        CHECK(rig.words(r) == expected);
    }
}
