// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "route/route.hpp"

namespace wye::route {
namespace {

constexpr std::string_view kFormats[] = {"wye-program", "opencl-c"};

registry::DeviceInfo device() {
    registry::DeviceInfo out;
    out.selector = "test:0";
    out.usable = true;
    out.formats = {"com.vendor.own", "opencl-c", "wye-program"};
    for (const auto key : {WYE_FACT_KEY_INT64, WYE_FACT_KEY_ATOMIC_INT32, WYE_FACT_KEY_BARRIER})
        out.facts.set(key, {true, ""});
    out.facts.set(WYE_FACT_KEY_MAX_WORKGROUP_SIZE,
                  {std::array<std::uint32_t, 3>{256, 256, 64}, ""});
    out.facts.set(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS, {std::uint64_t{256}, ""});
    out.facts.set(WYE_FACT_KEY_MAX_SHARED_BYTES, {std::uint64_t{1024}, ""});
    return out;
}

struct Planned {
    ir::Program program;
    plan::ProgramPlan plan;

    explicit Planned(std::string_view text) {
        ir::ParseResult parsed = ir::parse(text);
        REQUIRE(parsed.ok());
        program = std::move(parsed.program);
        REQUIRE(ir::validate(program).empty());
        auto made = plan::plan_program(program);
        REQUIRE(made.ok());
        plan = std::move(made).value();
    }
    [[nodiscard]] std::string against(const registry::DeviceInfo& info) const {
        std::string out;
        for (const std::string& reason : reasons_against(info, plan, requirements(plan), kFormats))
            out += reason + "\n";
        return out;
    }
};

const char kPlain[] =
    "wye 1; program p; workgroup 64; output r: u32[64]; grid groups 1;\n"
    "main { r[global_id.x] = 1u; }";

TEST_CASE("the format is the device's favourite among those that can be made") {
    CHECK(choose_format(device(), kFormats) == "opencl-c");
    registry::DeviceInfo other = device();
    other.formats = {"com.vendor.own"};
    CHECK(choose_format(other, kFormats).empty());
    CHECK(Planned(kPlain).against(other).find("com.vendor.own") != std::string::npos);
}

// A launch of `groups` workgroups on an output of 256 bytes.
std::unique_ptr<plan::Launch> launch_of(std::uint32_t groups) {
    auto out = std::make_unique<plan::Launch>();
    out->buffer_count = 1;
    out->buffers[0] = {};
    out->buffers[0].bytes = 256;
    out->workgroup = {64, 1, 1};
    out->groups = {groups, 1, 1};
    return out;
}

TEST_CASE("a device with a format of its own runs the variants of that format") {
    registry::DeviceInfo own = device();
    own.formats = {"com.vendor.own"};
    own.facts.set(WYE_FACT_KEY_MAX_WORKGROUPS, {std::array<std::uint32_t, 3>{10, 1, 1}, ""});
    const auto text = [](std::string_view variants) {
        return "wye 1; program p; workgroup 64; output r: u32[64]; grid groups 1;\n" +
               std::string(variants) + "main { r[global_id.x] = 1u; }";
    };
    const Planned fits(
        text("variant \"com.other\" entry \"a\" text \"\"\"x\"\"\";\n"
             "variant \"com.vendor.own\" entry \"b\" for \"*[!int64]\" text \"\"\"x\"\"\";\n"
             "variant \"com.vendor.own\" entry \"c\" for \"*[int64]\" text \"\"\"x\"\"\";\n"));
    const Planned filtered(
        text("variant \"com.vendor.own\" entry \"b\" for \"*[!int64]\" text \"\"\"x\"\"\";\n"));
    const auto ran = route(own, fits.plan, *launch_of(1), {.variants = true}, kFormats);
    REQUIRE(ran.ok());
    CHECK(ran->variant == 2);
    CHECK(ran->format == "com.vendor.own");

    // The device may be opened for the program, but cannot run the program's body.
    CHECK(fits.against(own).empty());
    const auto body = route(own, fits.plan, *launch_of(1), {}, kFormats);
    REQUIRE(!body.ok());
    CHECK(body.error().code == Code::UNSUPPORTED);
    CHECK(body.error().message.find("the request allows none") != std::string::npos);
    CHECK(body.error().fix.find("allow native variants") != std::string::npos);
    CHECK(lacks_only_variants(own, fits.plan, {}, kFormats));
    CHECK_FALSE(lacks_only_variants(own, fits.plan, {.variants = true}, kFormats));
    CHECK_FALSE(lacks_only_variants(device(), fits.plan, {}, kFormats));

    // A variant cannot run a launch that would be split, so the error does not suggest variants.
    const auto large = route(own, fits.plan, *launch_of(11), {}, kFormats);
    REQUIRE(!large.ok());
    CHECK(large.error().message.find("max_workgroups") != std::string::npos);
    CHECK(large.error().fix.find("allow native variants") == std::string::npos);

    CHECK(filtered.against(own).find("no variant for it") != std::string::npos);
    const auto refused = route(own, filtered.plan, *launch_of(1), {.variants = true}, kFormats);
    REQUIRE(!refused.ok());
    CHECK(refused.error().message.find("it takes com.vendor.own") != std::string::npos);
    CHECK_FALSE(lacks_only_variants(own, filtered.plan, {}, kFormats));
    // The needs of the program are still compared.
    own.facts.set(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS, {std::uint64_t{32}, ""});
    CHECK(!route(own, fits.plan, *launch_of(1), {.variants = true}, kFormats).ok());
}

TEST_CASE("a grid in a buffer needs the fact, and a format for the check of the grid") {
    const Planned p(
        "wye 1; program p; workgroup 64; output r: u32[64];\n"
        "variant \"com.vendor.own\" entry \"a\" text \"\"\"x\"\"\";\n"
        "main { r[global_id.x] = 1u; }");
    const auto launch = launch_of(0);
    launch->indirect = true;
    registry::DeviceInfo info = device();
    const auto without = route(info, p.plan, *launch, {}, kFormats);
    REQUIRE(!without.ok());
    CHECK(without.error().code == Code::UNSUPPORTED);
    CHECK(without.error().message ==
          "test:0 cannot run program `p`: needs indirect_dispatch yes, has not reported");
    info.facts.set(WYE_FACT_KEY_INDIRECT_DISPATCH, {true, ""});
    CHECK(route(info, p.plan, *launch, {}, kFormats).ok());
    CHECK(route(info, p.plan, *launch, {.variants = true}, kFormats)->variant == 0);
    info.formats = {"com.vendor.own"};
    const auto alone = route(info, p.plan, *launch, {.variants = true}, kFormats);
    REQUIRE(!alone.ok());
    CHECK(alone.error().message.find("cannot check a grid") != std::string::npos);
    launch->indirect = false;
    CHECK(route(info, p.plan, *launch, {.variants = true}, kFormats).ok());
}

TEST_CASE("no reasons against a device that has everything") {
    CHECK(Planned(kPlain).against(device()).empty());
}

TEST_CASE("each unmet need is a reason, with its place") {
    const Planned wants(R"(wye 1; program p; workgroup 512;
        input x: f64[]; output r: u8[len(x)]; shared s: u32[512]; grid groups 1;
        main { s[local_index] = 1u; barrier; if x[0] > 1.0f64 { r[0] = 1u; } })");
    const std::string reasons = wants.against(device());
    INFO(reasons);
    for (const char* part : {"f64", "storage8", "max_workgroup", "max_shared_bytes 2048"})
        CHECK(reasons.find(part) != std::string::npos);
    CHECK(reasons.find("at 2:") != std::string::npos);
    CHECK(reasons.find("int64") == std::string::npos);
}

TEST_CASE("an unusable device says why") {
    registry::DeviceInfo broken = device();
    broken.usable = false;
    broken.reason = "the driver is too old";
    CHECK(Planned(kPlain).against(broken).find("too old") != std::string::npos);
}

TEST_CASE("a launch is held against the limits too") {
    const Planned plain(kPlain);
    auto launch = std::make_unique<plan::Launch>();
    launch->buffer_count = 1;
    launch->buffers[0] = {};
    launch->buffers[0].bytes = 4096;
    launch->workgroup = {64, 1, 1};
    registry::DeviceInfo info = device();
    CHECK(route(info, plain.plan, *launch, {}, kFormats).ok());
    const auto cooperative = route(info, plain.plan, *launch, {.cooperative = true}, kFormats);
    REQUIRE(!cooperative.ok());
    CHECK(cooperative.error().code == Code::UNSUPPORTED);
    CHECK(cooperative.error().message.find("grid_sync") != std::string::npos);
    CHECK(cooperative.error().fix.starts_with("Fix: "));
    // A program with grid barriers needs no grid_sync, since it can be split at the barriers.
    const Planned parted(R"(wye 1; program parted; workgroup 64; input_output a: u32[];
main { a[global_id.x] = 1u; grid_barrier; a[global_id.x] = 2u; })");
    CHECK(route(info, parted.plan, *launch, {.cooperative = true}, kFormats).ok());
    info.facts.set(WYE_FACT_KEY_MAX_BUFFER_BYTES, {std::uint64_t{4095}, ""});
    CHECK(!route(info, plain.plan, *launch, {}, kFormats).ok());
    info.facts.set(WYE_FACT_KEY_MAX_BUFFER_BYTES, {std::uint64_t{4096}, ""});
    info.facts.set(WYE_FACT_KEY_MEMORY_BYTES, {std::uint64_t{8000}, ""});
    launch->buffer_count = 2;
    launch->buffers[1] = launch->buffers[0];
    const auto crowded = route(info, plain.plan, *launch, {}, kFormats);
    REQUIRE(!crowded.ok());
    CHECK(crowded.error().message.find("needs memory_bytes 8192, has 8000") != std::string::npos);
    launch->buffers[1].kind = plan::ArgumentKind::Resident;  // already on the device
    CHECK(route(info, plain.plan, *launch, {}, kFormats).ok());
    launch->buffer_count = 1;
    launch->buffers[0].bytes = 4095;
    launch->workgroup = {257, 1, 1};
    CHECK(!route(info, plain.plan, *launch, {}, kFormats).ok());
}

}  // namespace
}  // namespace wye::route
