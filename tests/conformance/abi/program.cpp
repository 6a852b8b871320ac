// SPDX-License-Identifier: Apache-2.0
//
// Artifacts: compiled, refused, saved and loaded again.
#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Rig;

namespace {

// Runs the sample program once; it must add 5 to each element.
void check_runs(Rig& rig, wye_program_object* program) {
    wye_buffer_object* x = rig.device.buffer(bytes_of(counting(64)));
    wye_buffer_object* r = rig.zeros(256);
    const std::uint32_t by = 5;
    const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
    REQUIRE(rig.device.run(harness::dispatch(program, bindings, {1, 1, 1}, &by)) == WYE_OK);
    harness::check_same(rig.words(r, 64), counting(64, 5));
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("a program in a listed format is built, as often as is asked (P-22)") {
    Rig rig;
    wye_program_object* one = rig.add_program();
    wye_program_object* two = rig.add_program();
    CHECK(one != two);
    check_runs(rig, one);
    check_runs(rig, two);
}

TEST_CASE("what is known of a program agrees with the device's limits (P-40)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    wye_program_object* program = rig.add_program();
    if (table.program_info == nullptr)
        return harness::not_applicable("the plugin has no program_info");
    wye_program_info info{};
    info.header.size = sizeof info;
    REQUIRE(table.program_info(rig.device.object, program, &info, nullptr) == WYE_OK);
    MESSAGE("max_invocations ", info.max_invocations, ", registers ", info.registers,
            ", private_bytes ", info.private_bytes, ", shared_bytes ", info.shared_bytes,
            ", resident_groups ", info.resident_groups);
    const auto limit = [&](std::uint32_t key) {
        wye_status status = WYE_OK;
        const wye_fact fact = rig.plugin.fact(key, &status);
        return status == WYE_OK ? fact.u : UINT64_MAX;
    };
    if (info.max_invocations != 0)
        CHECK(info.max_invocations >= 64);  // the sample has workgroups of 64
    CHECK(info.max_invocations <= limit(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS));
    CHECK(info.shared_bytes <= limit(WYE_FACT_KEY_MAX_SHARED_BYTES));
    CHECK(info.reserved == 0);
}

TEST_CASE("a format that is not listed is refused (P-11, P-12)") {
    Rig rig;
    wye_artifact foreign = rig.sample();
    foreign.format = {"org.example.format", 18};
    CHECK(rig.device.program(foreign) == nullptr);
    harness::check_helpful(rig.device.failure, WYE_UNSUPPORTED);
    check_runs(rig, rig.add_program());
}

TEST_CASE("bytes that are no code are refused with a sentence, and harm nothing (P-8, P-11)") {
    Rig rig;
    for (const std::string_view code : {"", "no program", "\x03\x02\x23\x07 and no more words"}) {
        CAPTURE(code);
        wye_artifact broken = rig.sample();
        broken.code = {code.data(), code.size()};
        CHECK(rig.device.program(broken) == nullptr);
        CHECK(rig.device.failure.code != WYE_OK);
        harness::check_helpful(rig.device.failure, rig.device.failure.code);
    }
    check_runs(rig, rig.add_program());
}

TEST_CASE("a saved program loads again and does the same (P-33)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    if (table.program_save == nullptr)
        return harness::not_applicable("the plugin saves no programs");
    wye_program_object* program = rig.add_program();
    check_runs(rig, program);  // some programs can be saved only after a launch
    harness::Sink sink;
    wye_bytes saved{};
    const wye_status status = table.program_save(rig.device.object, program, &saved, sink.out());
    if (status == WYE_UNSUPPORTED) return harness::not_applicable("the driver saves no programs");
    REQUIRE_MESSAGE(status == WYE_OK, sink.failure().message);
    REQUIRE(saved.size > 0);
    REQUIRE(saved.size <= std::uint64_t{256} << 20U);  // the host's limit
    const auto* bytes = static_cast<const std::byte*>(saved.data);
    const std::vector<std::byte> kept(bytes, bytes + saved.size);
    const wye_artifact artifact = rig.sample();
    wye_program_object* again = nullptr;
    REQUIRE(table.program_load(rig.device.object, &artifact, {kept.data(), kept.size()}, &again,
                               nullptr) == WYE_OK);
    check_runs(rig, again);
    table.program_destroy(rig.device.object, again);
}

TEST_SUITE_END();
