// SPDX-License-Identifier: Apache-2.0
//
// Tests which buffers can pass data between invocations at a barrier, and that the barriers order
// these buffers.
#include <doctest/doctest.h>

#include <string>

#include "lower/analysis/barrier_data.hpp"
#include "lower/lower.hpp"
#include "programs.hpp"

namespace test_barrier_data {

namespace {

struct Case {
    const char* what;
    bool passes;  // whether some buffer passes data
    const char* body;
};

const Case kCases[] = {
    {"one store, before", false, "r[i] = x[i]; s[i] = 1u; barrier;"},
    {"loads of what nobody writes", false, "s[i] = x[i]; barrier; r[i] = x[i] + s[63u - i];"},
    {"one atomic", false, "s[i] = 1u; barrier; atomic_add(r[0u], s[i]);"},
    {"a store in a loop without barriers", false,
     "barrier; for k in 0u..4u { r[i + k * 64u] = s[i]; }"},
    {"a store and a load", true, "r[i] = 1u; barrier; s[i] = r[63u - i];"},
    {"two stores", true, "r[i] = 1u; barrier; r[63u - i] = 2u;"},
    {"two atomics", true,
     "atomic_add(r[i], 1u); barrier; s[i] = 0u; let v = atomic_add(r[0u], 1u);"},
    {"a store in a loop with a barrier", true,
     "for k in 0u..4u { if i == k { r[0u] = k; } barrier; }"},
    {"a store in a loop in a loop with a barrier", true,
     "for k in 0u..4u { for j in 0u..2u { if i == k { r[j] = k; } } barrier; }"},
    {"an atomic in a loop with a barrier", true,
     "for k in 0u..4u { atomic_max(r[0u], k); barrier; }"},
    {"the barriers of a uniform load", true,
     "r[i] = 1u; let v = workgroup_uniform_load(s[0u]); s[i] = r[63u - i] + v;"},
    {"a load by a function", true, "r[i] = 1u; barrier; s[i] = look(63u - i);"},
    {"no barrier", false, "r[i] = 1u; s[i] = r[i];"},
};

wye::ir::Program program_of(const Case& c) {
    const std::string body = c.body;
    return valid_program(
        "wye 1; program p; workgroup 64; input x: u32[64]; input_output r: u32[256]; "
        "shared s: u32[64]; " +
        std::string(body.find("look") == std::string::npos
                        ? ""
                        : "fn look(k: u32) -> u32 { return r[k]; } ") +
        "main { let i = local_index; " + body + " }");
}

}  // namespace

TEST_CASE("barriers order buffers where data passes through one") {
    for (const Case& c : kCases) {
        INFO(c.what);
        const auto program = program_of(c);
        bool passes = false;
        for (const bool each : wye::lower::passed_at_barriers(program)) passes = passes || each;
        CHECK(passes == c.passes);
        const auto text = wye::lower::lower(program, WYE_FORMAT_OPENCL_C, {}, {});
        REQUIRE(text.ok());
        CHECK((text->text().find("CLK_GLOBAL_MEM_FENCE") != std::string_view::npos) == c.passes);
    }
}

}  // namespace test_barrier_data
