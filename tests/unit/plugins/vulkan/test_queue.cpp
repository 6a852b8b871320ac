// SPDX-License-Identifier: Apache-2.0
//
// Programs and dispatches, with the modules of this folder, and what is refused.
#include "checked.hpp"
#include "wye/sdk/plugin.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

namespace {

constexpr wye_slot kSlots[] = {
    {WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},       {WYE_SLOT_BUFFER, 1, 0, 3, 0, {}},
    {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}},       {WYE_SLOT_LENGTH, 1, 8, 0, 0, {}},
    {WYE_SLOT_PARAMS, 0, 16, 0, 0, {}},      {WYE_SLOT_GRID, 0, 20, 0, 0, {}},
    {WYE_SLOT_OPAQUE_ZERO, 0, 48, 0, 0, {}}, {WYE_SLOT_TRAP, 0, 0, 0, 0, {}}};
constexpr wye_slot kSlowSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                                   {WYE_SLOT_PARAMS, 0, 0, 0, 0, {}}};

wye_program_object* slots_program(Device& device) {
    static const std::string words = module_words("slots");
    wye_program_object* program =
        device.program(harness::artifact(words, "main", kSlots, 2, 64, 4));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    return program;
}

// A dispatch of `slots`, which counts the invocations beyond the buffers as traps.
wye_operation slots_dispatch(wye_program_object* program, std::span<const wye_binding> bindings,
                             wye_buffer_object* trap, std::uint32_t groups,
                             const std::uint32_t* step) {
    wye_operation op = harness::dispatch(program, bindings, {groups, 1, 1}, step);
    op.u.dispatch.trap = {trap, 0, 8, 2, 0, 0, 0};
    return op;
}

// A dispatch that takes about a second. lavapipe ends loops after 65,535 rounds, so it is many
// workgroups that take long.
constexpr std::uint32_t kSlowGroups = 20000;
constexpr std::uint32_t kSlowRounds = 60000;
constexpr std::uint32_t kSlowStart = 12345;

wye_program_object* slow_program(Device& device) {
    static const std::string words = module_words("slow");
    wye_program_object* program =
        device.program(harness::artifact(words, "main", kSlowSlots, 1, 1, 4));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    return program;
}

// Returns the result of the slow program for each word.
std::uint32_t slow_result() {
    std::uint32_t v = kSlowStart;
    for (std::uint32_t i = 0; i < kSlowRounds; ++i) v = v * 1664525U + (v >> 16U) + i;
    return v;
}

}  // namespace

TEST_CASE("every kind of slot reaches the program") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_buffer_object* x = device.buffer(bytes_of(counting(1000)));
    wye_buffer_object* r = device.buffer(4000);
    wye_buffer_object* trap = device.buffer(8);
    wye_program_object* program = slots_program(device);
    for (const std::uint32_t step : {1U, 1U, 7U}) {
        const wye_binding bindings[] = {binding(x, 0, 1000), binding(r, 0, 900)};
        const wye_operation steps[] = {harness::fill(r, 0, 4000, 0, 4),
                                       harness::fill(trap, 0, 8, 0, 4),
                                       slots_dispatch(program, bindings, trap, 16, &step)};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        const auto out = values_of<std::uint32_t>(device.download(r, 4000));
        for (std::uint32_t i = 0; i < 1000; ++i)
            CHECK(out[i] == (i < 900 ? i + step + 16 * 1000 : 0));
        const auto record = values_of<std::uint32_t>(device.download(trap, 8));
        CHECK(record[0] == 7);
        CHECK(record[1] == 1024 - 900);
    }
}

TEST_CASE("a split grid sees logical ids and counts") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_buffer_object* x = device.buffer(bytes_of(counting(640)));
    wye_buffer_object* r = device.buffer(2560);
    wye_buffer_object* trap = device.buffer(8);
    wye_program_object* program = slots_program(device);
    const std::uint32_t step = 5;
    const wye_binding bindings[] = {binding(x, 0, 640), binding(r, 0, 640)};
    std::vector<wye_operation> steps = {harness::fill(trap, 0, 8, 0, 4)};
    for (const std::uint32_t from : {0U, 3U, 7U}) {
        wye_operation part = slots_dispatch(program, bindings, trap, from == 0 ? 3 : 4, &step);
        if (from == 7) part.u.dispatch.groups[0] = 3;
        part.u.dispatch.group_offset[0] = from;
        part.u.dispatch.logical_groups[0] = 10;
        steps.push_back(part);
    }
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    const auto out = values_of<std::uint32_t>(device.download(r, 2560));
    for (std::uint32_t i = 0; i < 640; ++i) CHECK(out[i] == i + 5 + 10 * 1000);
    CHECK(values_of<std::uint32_t>(device.download(trap, 8))[1] == 0);
}

TEST_CASE("a block that push constants cannot hold is a buffer") {
    CheckedPlugin plugin;
    Device device(plugin);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                              {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}},
                              {WYE_SLOT_PARAMS, 0, 8, 0, 0, {}}};
    const std::string words = module_words("large_block");
    wye_artifact artifact = harness::artifact(words, "main", slots, 1, 64, 512);
    wye_program_object* program = device.program(artifact);
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    wye_buffer_object* r = device.buffer(4096);
    wye_buffer_object* s = device.buffer(4096);
    const auto params = counting(128, 500);
    const auto others = counting(128, 9000);
    const wye_binding first[] = {binding(r, 0, 1024)};
    const wye_binding second[] = {binding(s, 0, 1000)};
    const wye_operation steps[] = {
        harness::fill(s, 0, 4096, 0, 4),
        harness::dispatch(program, first, {16, 1, 1}, params.data(), 512),
        harness::dispatch(program, second, {16, 1, 1}, others.data(), 512)};
    REQUIRE(device.submit(steps) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    const auto one = values_of<std::uint32_t>(device.download(r, 4096));
    const auto two = values_of<std::uint32_t>(device.download(s, 4096));
    for (std::uint32_t i = 0; i < 1024; ++i) {
        CHECK(one[i] == 500 + i % 128);
        CHECK(two[i] == (i < 1000 ? 9000 + i % 128 : 0));
    }
}

TEST_CASE("dependent dispatches of one submit and of many run in order") {
    CheckedPlugin plugin;
    Device device(plugin);
    constexpr std::uint32_t kCount = 4096;
    wye_buffer_object* a = device.buffer(bytes_of(counting(kCount)));
    wye_buffer_object* b = device.buffer(kCount * 4);
    wye_buffer_object* trap = device.buffer(8);
    wye_program_object* program = slots_program(device);
    REQUIRE(device.run(harness::fill(trap, 0, 8, 0, 4)) == WYE_OK);
    // Each adds one step and 64000 to all elements, from one buffer to the other.
    const std::uint32_t steps[] = {1, 3};
    const wye_binding there[] = {binding(a, 0, kCount), binding(b, 0, kCount)};
    const wye_binding back[] = {binding(b, 0, kCount), binding(a, 0, kCount)};
    std::vector<wye_operation> chain;
    for (int i = 0; i < 50; ++i) {
        chain.push_back(slots_dispatch(program, there, trap, kCount / 64, &steps[0]));
        chain.push_back(slots_dispatch(program, back, trap, kCount / 64, &steps[1]));
    }
    REQUIRE(device.submit(chain) == WYE_OK);
    for (const wye_operation& op : chain) REQUIRE(device.submit({&op, 1}) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    const auto out = values_of<std::uint32_t>(device.download(a, kCount * 4));
    for (std::uint32_t i = 0; i < kCount; ++i) CHECK(out[i] == i + 100 * 4 + 200 * 64000);
}

// Equal submits are sent again as they were recorded: nothing of another may come with them.
TEST_CASE("repeated and alternating submits do what each of them says") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_buffer_object* trap = device.buffer(8);
    wye_program_object* programs[] = {slots_program(device), slots_program(device)};
    wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
    wye_buffer_object* r = device.buffer(256);
    std::uint32_t first = 0;
    for (std::uint32_t round = 0; round < 40; ++round) {
        if (round % 10 == 9) {  // new buffers, perhaps at the addresses of those that are gone
            device.destroy(x);
            device.destroy(r);
            r = device.buffer(256);
            x = device.buffer(bytes_of(counting(64, round)));
            first = round;
        }
        const std::uint32_t step = round % 3;
        const std::uint64_t count = round % 5 == 4 ? 32 : 64;
        const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, count)};
        const wye_operation steps[] = {
            harness::fill(r, 0, 256, round % 2, 4), harness::fill(trap, 0, 8, 0, 4),
            slots_dispatch(programs[round % 2], bindings, trap, 1, &step)};
        for (int again = 0; again < 3; ++again) REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        const auto out = values_of<std::uint32_t>(device.download(r, 256));
        for (std::uint32_t i = 0; i < 64; ++i)
            CHECK(out[i] == (i < count ? first + i + step + 1000 : round % 2));
        CHECK(values_of<std::uint32_t>(device.download(trap, 8))[1] == 64 - count);
    }
}

TEST_CASE("many different bindings in one submit are all kept apart") {
    CheckedPlugin plugin;
    Device device(plugin);
    constexpr std::uint32_t kLaunches = 300;
    wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
    wye_buffer_object* r = device.buffer(kLaunches * 256);
    wye_buffer_object* trap = device.buffer(8);
    wye_program_object* program = slots_program(device);
    std::vector<std::array<wye_binding, 2>> bindings;
    const auto steps = counting(kLaunches);
    for (std::uint32_t i = 0; i < kLaunches; ++i)
        bindings.push_back({binding(x, 0, 64), binding(r, i * 256, 64)});
    std::vector<wye_operation> launches;
    for (std::uint32_t i = 0; i < kLaunches; ++i)
        launches.push_back(slots_dispatch(program, bindings[i], trap, 1, &steps[i]));
    for (int round = 0; round < 3; ++round) {
        REQUIRE(device.submit(launches) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
    }
    const auto out = values_of<std::uint32_t>(device.download(r, kLaunches * 256));
    for (std::uint32_t i = 0; i < out.size(); ++i) CHECK(out[i] == i % 64 + i / 64 + 1000);
}

TEST_CASE("ranges are bound where they start, empty ones anywhere") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::uint64_t alignment =
        std::max<std::uint64_t>(plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u, 4);
    wye_buffer_object* x = device.buffer(bytes_of(counting(1024)));
    wye_buffer_object* r = device.buffer(4096);
    wye_buffer_object* trap = device.buffer(8);
    REQUIRE(device.run(harness::fill(r, 0, 4096, 0, 4)) == WYE_OK);
    wye_program_object* program = slots_program(device);
    const std::uint32_t step = 3;
    const wye_binding bindings[] = {binding(x, 2 * alignment, 64), binding(r, alignment, 64)};
    REQUIRE(device.run(slots_dispatch(program, bindings, trap, 1, &step)) == WYE_OK);
    const auto out = values_of<std::uint32_t>(device.download(r, 4096));
    const auto word = static_cast<std::uint32_t>(alignment / 4);
    for (std::uint32_t i = 0; i < 1024; ++i)
        CHECK(out[i] == (i >= word && i < word + 64 ? i + word + step + 1000 : 0));

    const wye_binding empty[] = {binding(x, 4096, 0), binding(r, 4, 0)};
    CHECK(device.run(slots_dispatch(program, empty, trap, 1, &step)) == WYE_OK);
    CHECK(device.download(r, 4096) == [&] {
        const auto bytes = bytes_of(out);
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    }());

    if (alignment > 4) {
        const wye_binding crooked[] = {binding(x, 4, 64), binding(r, 0, 64)};
        CHECK(device.run(slots_dispatch(program, crooked, trap, 1, &step)) == WYE_INVALID_ARGUMENT);
        CHECK(device.failure.fix.find(std::to_string(alignment)) != std::string::npos);
        // Nothing was queued, so the queue lives on.
        CHECK(device.run(harness::fill(r, 0, 4, 1, 4)) == WYE_OK);
    }
}

TEST_CASE("modules and artifacts that do not fit are refused") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::string words = module_words("slots");
    CHECK(device.program(harness::artifact(words, "sub", kSlots, 2, 64, 4)) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.message.find("`sub`") != std::string::npos);
    CHECK(device.failure.subject == "test");
    CHECK(device.program(harness::artifact(words, "main", kSlots, 2, 32, 4)) == nullptr);
    CHECK(device.failure.message.find("32x1x1") != std::string::npos);
    CHECK(device.program(harness::artifact(words.substr(0, 100), "main", kSlots, 2, 64, 4)) ==
          nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.program(harness::artifact(words.substr(0, 99), "main", kSlots, 2, 64, 4)) ==
          nullptr);
    CHECK(device.program(harness::artifact("", "main", kSlots, 2, 64, 4)) == nullptr);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);

    wye_artifact wrong = harness::artifact(words, "main", kSlots, 2, 64, 4);
    wrong.format = {"ptx", 3};
    CHECK(device.program(wrong) == nullptr);
    CHECK(device.failure.code == WYE_UNSUPPORTED);
    wye_slot slots[std::size(kSlots)];
    std::copy(std::begin(kSlots), std::end(kSlots), slots);
    slots[6].kind = 99;
    CHECK(device.program(harness::artifact(words, "main", slots, 2, 64, 4)) == nullptr);
    CHECK(device.failure.code == WYE_UNSUPPORTED);
    CHECK(device.failure.message.find("99") != std::string::npos);

    // A split grid needs a slot for it.
    const std::string slow = module_words("slow");
    wye_program_object* program =
        device.program(harness::artifact(slow, "main", kSlowSlots, 1, 1, 4));
    REQUIRE(program != nullptr);
    wye_buffer_object* r = device.buffer(4);
    const std::uint32_t rounds = 1;
    const wye_binding bindings[] = {binding(r, 0, 1)};
    wye_operation split = harness::dispatch(program, bindings, {1, 1, 1}, &rounds);
    split.u.dispatch.group_offset[0] = 1;
    CHECK(device.run(split) == WYE_UNSUPPORTED);
}

TEST_CASE("a required subgroup size is what the program runs with") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::string words = module_words("subgroup");
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 2, 0, {}}};
    wye_artifact artifact = harness::artifact(words, "main", slots, 1, 64);
    const wye_fact sizes = plugin.fact(WYE_FACT_KEY_SUBGROUP_SIZES);
    wye_buffer_object* r = device.buffer(256);
    const wye_binding bindings[] = {binding(r, 0, 64)};
    for (std::uint64_t i = 0; i < sizes.list_size; ++i) {
        artifact.subgroup_size = static_cast<std::uint32_t>(sizes.list[i]);
        wye_program_object* program = device.program(artifact);
        REQUIRE_MESSAGE(program != nullptr, device.failure.message);
        REQUIRE(device.run(harness::fill(r, 0, 256, 0, 4)) == WYE_OK);
        REQUIRE(device.run(harness::dispatch(program, bindings, {1, 1, 1})) == WYE_OK);
        CHECK(values_of<std::uint32_t>(device.download(r, 256)) ==
              std::vector<std::uint32_t>(64, artifact.subgroup_size));
    }
    artifact.subgroup_size = 3;
    CHECK(device.program(artifact) == nullptr);
    CHECK(device.failure.code == WYE_UNSUPPORTED);
}

TEST_CASE("a saved program loads again, and what is not one is compiled instead") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_program_object* program = slots_program(device);
    wye_bytes saved{};
    REQUIRE(device.table->program_save(device.object, program, &saved, nullptr) == WYE_OK);
    REQUIRE(saved.size > 32);
    const auto* bytes = static_cast<const std::byte*>(saved.data);
    std::vector<std::byte> copy(bytes, bytes + saved.size);
    const std::string words = module_words("slots");
    const wye_artifact artifact = harness::artifact(words, "main", kSlots, 2, 64, 4);
    wye_program_object* again = nullptr;
    REQUIRE(device.table->program_load(device.object, &artifact, {copy.data(), copy.size()}, &again,
                                       nullptr) == WYE_OK);
    device.table->program_destroy(device.object, again);
    copy[copy.size() / 2] ^= std::byte{1};
    again = nullptr;
    CHECK(device.table->program_load(device.object, &artifact, {copy.data(), copy.size()}, &again,
                                     nullptr) == WYE_UNSUPPORTED);
    CHECK(again == nullptr);
}

TEST_CASE("a wait ends after its time, and the work goes on") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_program_object* program = slow_program(device);
    wye_buffer_object* r =
        device.buffer(bytes_of(std::vector<std::uint32_t>(kSlowGroups, kSlowStart)));
    const wye_binding bindings[] = {binding(r, 0, kSlowGroups)};
    const wye_operation op =
        harness::dispatch(program, bindings, {kSlowGroups, 1, 1}, &kSlowRounds);
    REQUIRE(device.submit({&op, 1}) == WYE_OK);
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_NOT_READY);
    CHECK(device.wait(1000000) == WYE_TIMEOUT);
    CHECK(device.failure.message.find("1000000") != std::string::npos);
    CHECK(device.wait() == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(r, kSlowGroups * 4)) ==
          std::vector<std::uint32_t>(kSlowGroups, slow_result()));
}

TEST_CASE("a submit waits for earlier downloads only of buffers that it writes") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_program_object* program = slow_program(device);
    wye_buffer_object* slow =
        device.buffer(bytes_of(std::vector<std::uint32_t>(kSlowGroups, kSlowStart)));
    wye_buffer_object* other = device.buffer(bytes_of(counting(16)));
    std::vector<std::byte> first(4);
    std::vector<std::byte> second(4);
    std::vector<std::byte> third(4);
    const wye_binding bindings[] = {binding(slow, 0, kSlowGroups)};
    const wye_operation work[] = {
        harness::dispatch(program, bindings, {kSlowGroups, 1, 1}, &kSlowRounds),
        harness::download(slow, 0, first)};
    REQUIRE(device.submit(work) == WYE_OK);
    const std::uint64_t value = device.value;
    const wye_operation apart[] = {harness::fill(other, 0, 4, 7, 4),
                                   harness::download(other, 0, second)};
    REQUIRE(device.submit(apart) == WYE_OK);
    CHECK(device.query(device.queue, value, nullptr) == WYE_NOT_READY);
    const wye_operation over[] = {harness::fill(slow, 0, 4, 9, 4),
                                  harness::download(slow, 0, third)};
    REQUIRE(device.submit(over) == WYE_OK);
    REQUIRE(device.wait() == WYE_OK);
    CHECK(values_of<std::uint32_t>(first)[0] == slow_result());
    CHECK(values_of<std::uint32_t>(second)[0] == 7);
    CHECK(values_of<std::uint32_t>(third)[0] == 9);
}

TEST_CASE("an unknown operation is refused, and nothing of its submit is queued") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::vector<std::byte> ones(256, std::byte{1});
    const std::vector<std::byte> twos(256, std::byte{2});
    wye_buffer_object* a = device.buffer(std::span(ones));
    wye_operation bad{};
    bad.kind = 77;
    const wye_operation steps[] = {harness::upload(a, 0, twos), harness::fill(a, 0, 256, 3, 4),
                                   bad};
    CHECK(device.submit(steps) == WYE_UNSUPPORTED);
    CHECK(device.failure.message.find("77") != std::string::npos);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    CHECK(device.download(a, 256) == ones);
}

TEST_CASE("too much memory is refused with figures, and no memory at all is a buffer") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::uint64_t total = plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u;
    for (const std::uint64_t size : {UINT64_MAX, UINT64_MAX / 2, total * 4}) {
        CHECK(device.buffer(size) == nullptr);
        CHECK(device.failure.code == WYE_DEVICE_MEMORY);
        CHECK(device.failure.message.find(std::to_string(size)) != std::string::npos);
        CHECK(device.failure.message.find(std::to_string(total)) != std::string::npos);
        CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    }
    // Everything is as usable as before.
    wye_buffer_object* none = device.buffer(0);
    REQUIRE(none != nullptr);
    CHECK(device.download(none, 0).empty());
    wye_buffer_object* some = device.buffer(bytes_of(counting(64)));
    CHECK(values_of<std::uint32_t>(device.download(some, 256)) == counting(64));
}
