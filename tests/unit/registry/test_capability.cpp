// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "registry/choose/capability.hpp"

namespace test_capability {

using namespace wye::registry;

namespace {

Facts device() {
    Facts f;
    f.set(WYE_FACT_KEY_INT64, {true, ""});
    f.set(WYE_FACT_KEY_F64, {false, ""});
    f.set(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, {std::array<std::uint32_t, 3>{256, 16, 4}, ""});
    f.set(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS, {std::uint64_t{256}, ""});
    f.set(WYE_FACT_KEY_MAX_SHARED_BYTES, {std::uint64_t{1024}, ""});
    f.set(WYE_FACT_KEY_MAX_BUFFERS, {std::uint64_t{8}, ""});
    f.set(WYE_FACT_KEY_SUBGROUP_SIZES, {std::vector<std::uint64_t>{8, 16}, ""});
    return f;
}

}  // namespace

TEST_CASE("a device that fits has no unmet needs") {
    Requirements needs;
    needs.capabilities = {"int64"};
    needs.workgroup = {256, 1, 1};
    needs.shared_bytes = 1024;
    needs.buffers = 8;
    needs.subgroup = 16;
    const auto result = check(needs, device());
    CHECK(result.unmet.empty());
    CHECK(result.unverified.empty());
}

TEST_CASE("each miss is named with both figures") {
    struct Case {
        Requirements needs;
        const char* text;
    };
    Requirements f64, f16, made_up, limit_as_capability, wide, many, shared, buffers, subgroup, odd;
    f64.capabilities = {"f64"};
    f16.capabilities = {"storage16"};
    made_up.capabilities = {"teleport"};
    limit_as_capability.capabilities = {"max_buffers"};
    wide.workgroup = {1, 17, 1};
    many.workgroup = {128, 4, 1};
    shared.shared_bytes = 1025;
    buffers.buffers = 9;
    subgroup.subgroup = 32;
    odd.subgroups = true;
    odd.workgroup = {12, 1, 1};
    const Case cases[] = {
        {f64, "needs f64 yes, has no"},
        {f16, "needs storage16 yes, has not reported"},
        {made_up, "needs teleport yes, has not a capability that this host knows"},
        {limit_as_capability, "needs max_buffers yes, has not a capability that this host knows"},
        {wide, "needs max_workgroup_size 1x17x1, has 256x16x4"},
        {many, "needs max_workgroup_invocations 512, has 256"},
        {shared, "needs max_shared_bytes 1025, has 1024"},
        {buffers, "needs max_buffers 9, has 8"},
        {subgroup, "needs subgroup_sizes 32, has 8 16"},
        {odd, "needs subgroup_sizes any that divides the workgroup of 12, has 8 16"},
    };
    for (const Case& c : cases) {
        const auto result = check(c.needs, device());
        REQUIRE(result.unmet.size() == 1);
        CHECK(to_text(result.unmet[0]) == c.text);
    }
}

TEST_CASE("unreported workgroup limits count as one, storage limits are left to the driver") {
    Requirements needs;
    needs.workgroup = {2, 1, 1};
    needs.shared_bytes = 1;
    needs.private_bytes = 2;
    needs.param_bytes = 3;
    needs.buffers = 4;
    needs.largest_buffer_bytes = 5;
    const auto result = check(needs, Facts{});
    REQUIRE(result.unmet.size() == 2);
    CHECK(result.unmet[0].name == "max_workgroup_size");
    CHECK(result.unmet[0].actual == "not reported (counts as 1)");
    CHECK(result.unmet[1].name == "max_workgroup_invocations");
    CHECK(result.unverified == std::vector<std::string>{"max_shared_bytes", "max_private_bytes",
                                                        "max_param_bytes", "max_buffers",
                                                        "max_buffer_bytes"});
    CHECK(check(Requirements{}, Facts{}).unmet.empty());
}

TEST_CASE("a workgroup whose product overflows does not slip through") {
    Facts f;
    f.set(WYE_FACT_KEY_MAX_WORKGROUP_SIZE,
          {std::array<std::uint32_t, 3>{0xffffffff, 0xffffffff, 0xffffffff}, ""});
    f.set(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS, {std::uint64_t{1024}, ""});
    Requirements needs;
    needs.workgroup = {0x80000000, 0x80000000, 4};  // 2^64
    REQUIRE(check(needs, f).unmet.size() == 1);
    CHECK(check(needs, f).unmet[0].name == "max_workgroup_invocations");
}

}  // namespace test_capability
