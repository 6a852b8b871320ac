// SPDX-License-Identifier: Apache-2.0
//
// Launches of the maximum number of workgroups, of workgroups whose number comes from a buffer, and
// of workgroups that run at once.
#include <algorithm>
#include <string>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::Command;
using harness::copy;
using harness::counting;
using harness::fill;
using harness::Rig;

namespace {

constexpr std::uint32_t kInvocations = 256;
constexpr std::array<std::uint32_t, 3> kAll = {kInvocations / 64, 1, 1};
constexpr std::uint32_t kBy = 5;

// A launch of the sample program. The number of workgroups is read at `offset` of the buffer
// `groups`.
wye_operation indirect(wye_program_object* program, std::span<const wye_binding> bindings,
                       wye_buffer_object* groups, std::uint64_t offset = 0) {
    wye_operation out = harness::dispatch(program, bindings, kAll, &kBy);
    out.u.dispatch.flags = WYE_LAUNCH_INDIRECT;
    out.u.dispatch.indirect = binding(groups, offset, 3);
    std::fill_n(out.u.dispatch.groups, 3, 77U);  // an indirect launch ignores these
    return out;
}

// The expected result after a launch of `groups` workgroups: x + kBy in their elements, then zeros.
std::vector<std::uint32_t> sums(std::uint32_t groups) {
    auto out = counting(kInvocations, kBy);
    std::fill(out.begin() + groups * 64, out.end(), 0U);
    return out;
}

wye_operation cooperative(wye_program_object* program, std::span<const wye_binding> bindings,
                          std::uint32_t groups, const std::uint32_t* by) {
    wye_operation out = harness::dispatch(program, bindings, {groups, 1, 1}, by);
    out.u.dispatch.flags = WYE_LAUNCH_COOPERATIVE;
    return out;
}

// Checks that a device without the fact refuses the launch in a submit, and in a command.
void check_refused(Rig& rig, const wye_operation& launch) {
    CHECK(rig.device.submit({&launch, 1}) == WYE_UNSUPPORTED);
    harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
    if (rig.device.table->command_create == nullptr) return;
    const Command command(rig.device, {&launch, 1});
    CHECK(command.status == WYE_UNSUPPORTED);
    harness::check_helpful(command.failure, WYE_UNSUPPORTED);
}

}  // namespace

TEST_SUITE_BEGIN("launch");

TEST_CASE("a launch of as many workgroups as are claimed runs all of them (P-19)") {
    Rig rig;
    harness::Device& device = rig.device;
    wye_program_object* program = rig.add_program();
    wye_status known = WYE_OK;
    const std::uint32_t claimed = rig.plugin.fact(WYE_FACT_KEY_MAX_WORKGROUPS, &known).xyz[0];
    if (known != WYE_OK) return harness::not_applicable("the device does not claim max_workgroups");
    // Numbers of workgroups around 65535, which is many drivers' limit, and up to the claimed
    // maximum. No number is above kMost, which keeps the buffers small.
    constexpr std::uint32_t kMost = 65536 * 4;
    std::vector<std::uint32_t> sizes = {65535, 65536, 65537, claimed - 1, claimed};
    std::erase_if(sizes, [&](std::uint32_t n) { return n == 0 || n > claimed || n > kMost; });
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    REQUIRE_FALSE(sizes.empty());
    const std::uint32_t elements = sizes.back() * 64;
    wye_buffer_object* x = device.buffer(bytes_of(counting(elements)));
    wye_buffer_object* r = device.buffer(std::uint64_t{elements} * 4);
    REQUIRE(r != nullptr);
    for (const std::uint32_t groups : sizes) {
        CAPTURE(groups);
        const std::uint32_t count = groups * 64;
        const wye_binding bindings[] = {binding(x, 0, count), binding(r, 0, count)};
        const wye_operation steps[] = {fill(r, 0, std::uint64_t{count} * 4, 0, 4),
                                       harness::dispatch(program, bindings, {groups, 1, 1}, &kBy)};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, count), counting(count, kBy));
    }
}

TEST_CASE("an indirect launch runs the workgroups that its buffer has when it begins (P-46)") {
    Rig rig;
    harness::Device& device = rig.device;
    wye_program_object* program = rig.add_program();
    wye_buffer_object* x = device.buffer(bytes_of(counting(kInvocations)));
    wye_buffer_object* r = rig.zeros(kInvocations * 4);
    wye_buffer_object* groups = rig.zeros(64);
    const wye_binding bindings[] = {binding(x, 0, kInvocations), binding(r, 0, kInvocations)};
    const wye_operation launch = indirect(program, bindings, groups, 4);
    if (!rig.plugin.flag(WYE_FACT_KEY_INDIRECT_DISPATCH)) return check_refused(rig, launch);
    const wye_operation clear = fill(r, 0, kInvocations * 4, 0, 4);
    // An upload writes the number of workgroups: first in an earlier submit, then in the launch's
    // own.
    for (const std::uint32_t n : {1U, 4U, 2U, 3U}) {
        CAPTURE(n);
        const std::vector<std::uint32_t> words = {99, n, 1, 1, 99};
        const wye_operation write = harness::upload(groups, 0, bytes_of(words));
        REQUIRE(device.run(write) == WYE_OK);
        REQUIRE(device.run(clear) == WYE_OK);
        REQUIRE(device.run(launch) == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(n));
        const std::vector<std::uint32_t> more = {99, n % 4 + 1, 1, 1, 99};
        const wye_operation steps[] = {
            clear, harness::upload(groups, 0, bytes_of(more)), launch,
            fill(groups, 0, 64, 9, 4)};  // runs after the launch has read the number
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(n % 4 + 1));
    }
    // No workgroup runs if one of the three numbers is 0.
    for (std::size_t zero = 1; zero <= 3; ++zero) {
        CAPTURE(zero);
        std::vector<std::uint32_t> words = {0, 2, 1, 1};
        words[zero] = 0;
        const wye_operation steps[] = {clear, harness::upload(groups, 0, bytes_of(words)), launch};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(0));
    }
}

TEST_CASE("a program, a fill or a copy writes the workgroups of an indirect launch (P-46)") {
    Rig rig;
    harness::Device& device = rig.device;
    if (!rig.plugin.flag(WYE_FACT_KEY_INDIRECT_DISPATCH))
        return harness::not_applicable("the device does not claim indirect_dispatch");
    wye_program_object* program = rig.add_program();
    wye_buffer_object* x = device.buffer(bytes_of(counting(kInvocations)));
    wye_buffer_object* r = rig.zeros(kInvocations * 4);
    wye_buffer_object* groups = rig.zeros(64);
    wye_buffer_object* counts =
        device.buffer(bytes_of(std::vector<std::uint32_t>{1, 0, 0, 3, 1, 1}));
    const wye_binding bindings[] = {binding(x, 0, kInvocations), binding(r, 0, kInvocations)};
    const wye_binding writing[] = {binding(counts, 0, 3), binding(groups, 0, 3)};
    const std::uint32_t one = 1;
    const wye_operation write = harness::dispatch(program, writing, {1, 1, 1}, &one);
    const wye_operation clear = fill(r, 0, kInvocations * 4, 0, 4);
    const wye_operation launch = indirect(program, bindings, groups);
    for (int round = 0; round < 2; ++round) {
        const wye_operation steps[] = {fill(groups, 0, 64, 0, 4), clear, write, launch};
        REQUIRE(device.submit(steps) == WYE_OK);
        const wye_operation copied[] = {copy(counts, groups, 12, 0, 12)};
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(2));
        // The launch is submitted while the copy before it may still run.
        REQUIRE(device.submit(copied) == WYE_OK);
        REQUIRE(device.submit({&launch, 1}) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(3));
        const wye_operation filled[] = {clear, fill(groups, 0, 12, 1, 4), launch};
        REQUIRE(device.submit(filled) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(1));
    }
}

TEST_CASE("a command has indirect launches, of its own buffer or of the execution's (P-42, P-46)") {
    Rig rig;
    harness::Device& device = rig.device;
    if (!rig.plugin.flag(WYE_FACT_KEY_INDIRECT_DISPATCH) || device.table->command_create == nullptr)
        return harness::not_applicable("the device has no commands, or no indirect_dispatch");
    wye_program_object* program = rig.add_program();
    wye_buffer_object* x = device.buffer(bytes_of(counting(kInvocations)));
    wye_buffer_object* r = rig.zeros(kInvocations * 4);
    wye_buffer_object* groups = rig.zeros(64);
    wye_buffer_object* other = device.buffer(bytes_of(std::vector<std::uint32_t>{9, 3, 1, 1}));
    const wye_binding bindings[] = {binding(x, 0, kInvocations), binding(r, 0, kInvocations)};
    const wye_operation clear = fill(r, 0, kInvocations * 4, 0, 4);
    const wye_operation fixed[] = {clear, indirect(program, bindings, groups)};
    const Command command(device, fixed);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    wye_operation late = indirect(program, bindings, nullptr, 0);
    late.u.dispatch.indirect = {nullptr, 4, 12, 3, 0, 0, 0};
    const wye_operation given[] = {clear, late};
    const Command open(device, given, 1);
    REQUIRE_MESSAGE(open.status == WYE_OK, open.failure.message);
    for (const std::uint32_t n : {1U, 4U, 2U}) {
        CAPTURE(n);
        const std::vector<std::uint32_t> words = {n, n, 1, 1};
        REQUIRE(device.run(harness::upload(groups, 4, bytes_of(words))) == WYE_OK);
        const wye_operation steps[] = {copy(groups, groups, 8, 0, 4), fill(groups, 4, 8, 1, 4),
                                       command.execute()};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(r, kInvocations), sums(n));
        REQUIRE(device.run(harness::upload(groups, 0, bytes_of(words))) == WYE_OK);
        for (const auto& [buffer, expected] : {std::pair(groups, n), std::pair(other, 3U)}) {
            const wye_binding slots[] = {binding(buffer, 0, 4)};
            REQUIRE(device.run(open.execute(slots)) == WYE_OK);
            harness::check_same(rig.words(r, kInvocations), sums(expected));
        }
    }
}

TEST_CASE("a cooperative launch runs all of its workgroups at once (P-47)") {
    Rig rig;
    harness::Device& device = rig.device;
    wye_program_object* add = rig.add_program();
    wye_buffer_object* x = device.buffer(bytes_of(counting(kInvocations)));
    wye_buffer_object* r = rig.zeros(kInvocations * 4);
    const wye_binding bindings[] = {binding(x, 0, kInvocations), binding(r, 0, kInvocations)};
    const wye_operation launch = cooperative(add, bindings, kInvocations / 64, &kBy);
    if (!rig.plugin.flag(WYE_FACT_KEY_GRID_SYNC)) return check_refused(rig, launch);
    REQUIRE(device.run(launch) == WYE_OK);
    harness::check_same(rig.words(r, kInvocations), counting(kInvocations, kBy));

    const wye_device_info info = rig.plugin.info();
    const auto meet = harness::meet_sample({info.formats, info.format_count});
    REQUIRE_MESSAGE(meet.has_value(),
                    "the kit cannot exercise grid_sync: it has no `meet` in a format of this "
                    "device. Add one to the samples of the sdk, or do not claim it");
    wye_program_object* program = device.program(*meet);
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    REQUIRE((device.table->program_info != nullptr));
    wye_program_info known{};
    known.header.size = sizeof known;
    REQUIRE(device.table->program_info(device.object, program, &known, nullptr) == WYE_OK);
    const std::uint32_t most = known.resident_groups;
    REQUIRE(most > 0);
    wye_buffer_object* seen = rig.zeros((most + 1) * 4);
    const wye_binding meeting[] = {binding(x, 0, 1), binding(seen, 0, most + 1)};
    const wye_operation all = cooperative(program, meeting, most, &most);
    const auto check_met = [&](const wye_operation& operation) {
        const wye_operation steps[] = {fill(seen, 0, (most + 1) * 4, 0, 4), operation};
        REQUIRE(device.submit(steps) == WYE_OK);
        REQUIRE(device.wait() == WYE_OK);
        harness::check_same(rig.words(seen, most + 1), std::vector<std::uint32_t>(most + 1, most));
    };
    check_met(all);
    const wye_operation more = cooperative(program, meeting, most + 1, &most);
    const auto check_too_many = [&](const harness::Failure& failure) {
        harness::check_helpful(failure, WYE_LIMIT_EXCEEDED);
        CHECK(failure.message.find(std::to_string(most + 1)) != std::string::npos);
        CHECK(failure.message.find(std::to_string(most) + " ") != std::string::npos);
    };
    CHECK(device.submit({&more, 1}) == WYE_LIMIT_EXCEEDED);
    check_too_many(device.failure);
    harness::check_same(rig.words(seen, most + 1), std::vector<std::uint32_t>(most + 1, most));
    if (device.table->command_create == nullptr) return;
    const Command command(device, {&all, 1});
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    check_met(command.execute());
    check_met(command.execute());
    const Command large(device, {&more, 1});
    CHECK(large.status == WYE_LIMIT_EXCEEDED);
    check_too_many(large.failure);
}

TEST_SUITE_END();
