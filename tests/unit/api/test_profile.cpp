// SPDX-License-Identifier: Apache-2.0
//
// Compares the operations that devices list with those that they accept: wye/profile.h, on the CPU
// and a real driver. Also tests the capture plan of wye/graph.hpp.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "opened.hpp"
#include "wye/graph.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_profile {
namespace {

using api_test::take;
using nlohmann::json;

// A program with one operation. `text`: the statement with the operation, with `T` for the type.
struct Asked {
    const char* name;
    const char* memory;
    const char* text;
};
constexpr const char* kHead =
    "wye 1; program p; workgroup 64; input a: T[4]; input_output s: T[4]; shared h: T[4]; "
    "grid groups 1; main { let x = a[0]; ";
constexpr Asked kAsked[] = {
    {"+", "", "let v = x + x;"},
    {"%", "", "let v = x % x;"},
    {"popcount", "", "let v = popcount(x);"},
    {"fma", "", "let v = fma(x, x, x);"},
    {"erf", "", "let v = erf(x);"},
    {"atomic_add", "storage", "let v = atomic_add(s[0], x);"},
    {"atomic_max", "storage", "let v = atomic_max(s[0], x);"},
    {"atomic_cas", "shared", "let v = atomic_cas(h[0], x, x);"},
    {"subgroup_inclusive_add", "", "let v = subgroup_inclusive_add(x);"},
    {"workgroup_uniform_load", "shared", "let v = workgroup_uniform_load(h[0]);"},
};

std::string with_type(std::string text, const std::string& type) {
    for (std::size_t at = 0; (at = text.find("T[", at)) != std::string::npos;)
        text.replace(at, 1, type);
    return text;
}

TEST_CASE("a device lists an operation exactly if it accepts a program with it") {
    const std::string selector = support::test_driver();
    const Opened t;
    const json all = json::parse(take(t.device.operations()));
    for (const Asked& asked : kAsked) {
        CAPTURE(asked.name);
        const json* found = nullptr;
        for (const json& one : all)
            if (one.at("name") == asked.name &&
                (asked.memory[0] == 0 ? one.at("memory").is_null()
                                      : one.at("memory") == asked.memory))
                found = &one;
        REQUIRE(found != nullptr);
        for (const std::string type : {"i32", "u32", "i64", "u64", "f16", "f32", "f64"}) {
            CAPTURE(type);
            const auto program =
                t.context.program_from_text(with_type(kHead, type) + asked.text + " }");
            const bool listed = found->at("types").dump().find(type) != std::string::npos;
            const json* lacks = nullptr;
            for (const json& one : found->at("missing"))
                if (one.at("type") == type) lacks = &one;
            CHECK((listed || lacks != nullptr) == program.ok());
            if (!program.ok()) continue;
            CHECK(listed == t.context.open(selector, &*program).ok());
            if (lacks != nullptr) CHECK(!lacks->at("needs").empty());
        }
    }
}

TEST_CASE("a shorter report has null for what it leaves out, and all else") {
    const auto report = [](const char* details) {
        const wye::Context context =
            take(wye::Context::create({.config = {{"report.details", details}}}));
        json out = json::parse(take(context.report("cpu")));
        REQUIRE(out.at("devices").size() == 1);
        out["devices"][0].at("facts").erase("free_memory_bytes");
        out["devices"][0].erase("free_memory_age_ms");
        return out;
    };
    json all = report("all");
    json& device = all["devices"][0];
    CHECK(device.at("operations").is_array());
    CHECK(device.at("fact_sources").is_object());
    CHECK(device.at("fact_reasons").is_object());
    device["operations"] = nullptr;
    CHECK(report("facts") == all);
    device["fact_sources"] = device["fact_reasons"] = nullptr;
    CHECK(report("brief") == all);
}

TEST_CASE("each operation of the language is listed once, and the report has the same") {
    const std::string selector = support::test_driver();
    const Opened t;
    const json all = json::parse(take(t.device.operations()));
    const json report = json::parse(take(t.context.report(selector)));
    bool seen = false;
    const std::string name(wye::detail::view(take(t.device.describe()).selector));
    for (const json& device : report.at("devices")) {
        if (device.at("selector") != name) continue;
        CHECK(device.at("operations") == all);
        seen = true;
    }
    CHECK(seen);
    std::map<std::string, int> times;
    for (const json& one : all) {
        const json& memory = one.at("memory");
        ++times[one.at("name").get<std::string>() +
                (memory.is_null() ? "" : " " + memory.get<std::string>())];
    }
    for (const auto& one : times) {
        CAPTURE(one.first);
        CHECK(one.second == (one.first == "-" ? 2 : 1));  // `-` takes one operand or two
    }
    for (const char* word : {"barrier", "trap", "<<", "&&", "any", "sqrt", "atan2",
                             "atomic_store storage", "atomic_store shared", "subgroup_ballot"})
        CHECK(times.contains(word));
}

TEST_CASE("a profile has every field, with the device's own figure or a reason for none") {
    const Opened t;
    const json profile = json::parse(take(t.device.profile()));
    for (const char* name : {"backend",
                             "subgroup_operations",
                             "indirect_dispatch",
                             "specialization_constants",
                             "native_f16",
                             "native_bf16",
                             "trap_propagation",
                             "tensor_cores",
                             "mul_high_instruction",
                             "dual_issue_fp32_int32",
                             "subgroup_shuffle",
                             "shared_memory",
                             "native_int_bits",
                             "max_workgroup_size",
                             "max_workgroup_invocations",
                             "max_workgroups",
                             "max_shared_bytes",
                             "max_buffer_bytes",
                             "subgroup_sizes",
                             "compute_units",
                             "registers_per_thread",
                             "l1_cache_bytes",
                             "l2_cache_bytes",
                             "memory_bytes_per_second",
                             "ideal_unroll",
                             "ideal_vector_bits",
                             "ideal_workgroup",
                             "shared_banks",
                             "shared_bank_bytes",
                             "async_compute",
                             "native_wait",
                             "speculation",
                             "persistent_threads",
                             "grid_sync",
                             "distributed"}) {
        CAPTURE(name);
        REQUIRE(profile.contains(name));
        CHECK(profile.at(name).contains("value"));
        CHECK(!profile.at(name).at("source").get<std::string>().empty());
        const auto fact = t.device.fact(name);
        if (fact.ok() && fact->type == WYE_FACT_U64) CHECK(profile.at(name).at("value") == fact->u);
        if (!fact.ok() && fact.error().code == wye::Code::UNSUPPORTED)
            CHECK(
                (profile.at(name).at("value").is_null() || profile.at(name).at("value") == false));
    }
    const auto indirect = t.device.fact("indirect_dispatch");
    CHECK(profile.at("indirect_dispatch").at("value") == (indirect.ok() && indirect->u != 0));
    CHECK(profile.at("trap_propagation").at("value") == true);
    CHECK(profile.at("specialization_constants").at("value") == false);
    CHECK(profile.at("backend").at("value") ==
          std::string(wye::detail::view(take(t.device.describe()).plugin)));
}

TEST_CASE("a capture plan needs programs only") {
    const auto context = take(wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    const auto change = take(context.program_from_text(
        "wye 1; program change; workgroup 4; input k: u32[4]; input_output s: u32[4]; "
        "shared t: u32[4]; grid groups 1; main { s[local_index] = s[local_index] + "
        "k[local_index]; }"));
    const auto pure = take(context.program_from_text(
        "wye 1; program pure; workgroup 4; input k: u32[4]; output r: u32[4]; grid groups 1; "
        "main { r[local_index] = k[local_index]; }"));
    const auto one = take(wye::capture_plan({&pure}));
    CHECK(one.replay_safe == 1);
    CHECK(one.kernel_arguments == 3);
    const auto three = take(wye::capture_plan({&pure, &change, &pure}));
    CHECK(three.dispatches == 3);
    CHECK(three.input_buffers == 4);
    CHECK(three.output_buffers == 2);
    CHECK(three.readbacks == 3);
    CHECK(three.kernel_pointers == 6);
    CHECK(three.kernel_arguments == 9);
    CHECK(three.replay_safe == 0);
    CHECK(!wye::capture_plan({}).ok());
    wye_capture_plan out;
    WYE_INIT(out);
    const wye_program program = pure.get();
    CHECK(wye_capture_plan_make(context.get(), &program, 0, &out, nullptr) == WYE_INVALID_ARGUMENT);
    CHECK(wye_capture_plan_make(context.get(), nullptr, 1, &out, nullptr) == WYE_INVALID_ARGUMENT);
    out.header.size = 8;
    CHECK(wye_capture_plan_make(context.get(), &program, 1, &out, nullptr) == WYE_INVALID_ARGUMENT);
}

}  // namespace

}  // namespace wye::test::test_profile
