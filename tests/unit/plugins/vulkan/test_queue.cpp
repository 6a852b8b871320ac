// SPDX-License-Identifier: Apache-2.0
//
// Programs and dispatches, with the modules of this folder, and what is refused.
#include "checked.hpp"
#include "conformance/abi/cases.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

namespace {

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

// A dispatch that takes about a second. lavapipe ends loops after 65,535 iterations, so the
// dispatch has many workgroups instead of longer loops.
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

TEST_CASE("a block that push constants cannot hold is a buffer") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::string words = module_words("large_block");
    wye_program_object* program =
        device.program(harness::artifact(words, "main", kLargeSlots, 1, 64, 512));
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

// Equal submits are sent again as they were recorded. Nothing of another submit may be sent with
// them.
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

TEST_CASE("a submit waits for earlier downloads only of buffers that it writes") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_program_object* program = slow_program(device);
    wye_status soon = WYE_OK;
    for (int tries = 0; tries < 30 && soon != WYE_NOT_READY; ++tries) {
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
        soon =
            device.query(device.queue, value, nullptr);  // OK: the submit, or this thread, waited
        const wye_operation over[] = {harness::fill(slow, 0, 4, 9, 4),
                                      harness::download(slow, 0, third)};
        REQUIRE(device.submit(over) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        CHECK(values_of<std::uint32_t>(first)[0] == slow_result());
        CHECK(values_of<std::uint32_t>(second)[0] == 7);
        CHECK(values_of<std::uint32_t>(third)[0] == 9);
    }
    CHECK(soon == WYE_NOT_READY);
}

TEST_CASE("a range that starts between multiples of the alignment is refused with it") {
    CheckedPlugin plugin;
    Device device(plugin);
    wye_program_object* program = slots_program(device);
    wye_buffer_object* trap = device.buffer(8);
    const std::uint32_t step = 3;
    harness::cases::crooked_range_is_refused(
        plugin, device, [&](std::span<const wye_binding> bindings) {
            return slots_dispatch(program, bindings, trap, 1, &step);
        });
}

TEST_CASE("subgroups of a size that the device has not are refused, and so is a damaged program") {
    CheckedPlugin plugin;
    Device device(plugin);
    const std::string words = module_words("slots");
    wye_artifact artifact = harness::artifact(words, "main", kSlots, 2, 64, 4);
    wye_bytes saved{};
    REQUIRE(device.table->program_save(device.object, slots_program(device), &saved, nullptr) ==
            WYE_OK);
    const auto* bytes = static_cast<const std::byte*>(saved.data);
    std::vector<std::byte> copy(bytes, bytes + saved.size);
    copy[copy.size() / 2] ^= std::byte{1};
    wye_program_object* loaded = nullptr;
    CHECK(device.table->program_load(device.object, &artifact, {copy.data(), copy.size()}, &loaded,
                                     nullptr) == WYE_UNSUPPORTED);
    CHECK(loaded == nullptr);
    artifact.subgroup_size = 3;
    CHECK(device.program(artifact) == nullptr);
    CHECK(device.failure.code == WYE_UNSUPPORTED);
}
