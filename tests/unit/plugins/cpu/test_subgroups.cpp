// SPDX-License-Identifier: Apache-2.0
//
// Subgroup operations of every width and type, in one and in three axes and with whole subgroups
// inactive, against the scalar oracle; and the plugin's refusals.
#include <doctest/doctest.h>

#include "oracle/oracle.hpp"
#include "rig.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace {

struct Type {
    const char* name;
    unsigned kind;
    bool integer;
};
constexpr Type kTypes[] = {{"i32", WYE_KIND_I32, true},  {"u32", WYE_KIND_U32, true},
                           {"i64", WYE_KIND_I64, true},  {"u64", WYE_KIND_U64, true},
                           {"f32", WYE_KIND_F32, false}, {"f64", WYE_KIND_F64, false}};

// All operations on one type. Odd and even subgroups take different branches.
std::string text(const Type& type, const std::string& workgroup, unsigned width) {
    const std::string t = type.name;
    std::vector<std::string> values = {"subgroup_add(x)",
                                       "subgroup_min(x)",
                                       "subgroup_max(x)",
                                       "subgroup_inclusive_add(x)",
                                       "subgroup_exclusive_add(x)",
                                       "subgroup_shuffle(x, lane)",
                                       "subgroup_shuffle_xor(x, lane)",
                                       "subgroup_broadcast(x, subgroup_id * 5u)"};
    if (type.integer)
        values.insert(values.end(), {"subgroup_and(x)", "subgroup_or(x)", "subgroup_xor(x)"});
    std::string out = "wye 1; program sub; workgroup " + workgroup + "; subgroup " +
                      std::to_string(width) + "; input v: " + t +
                      "[]; input l: u32[len(v)]; output r: " + t + "[len(v) * " +
                      std::to_string(2 * values.size()) +
                      "]; output b: u32x4[len(v)]; output c: u32x4[len(v)]; main {"
                      " let n = global_id.x + num_workgroups.x * workgroup_size.x * (global_id.y +"
                      " num_workgroups.y * workgroup_size.y * global_id.z);"
                      " let x = v[n]; let lane = l[n]; let odd = subgroup_id % 2u == 1u; ";
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::string name = "y" + std::to_string(k);
        const std::string at = std::to_string(k) + "u";
        const std::string count = std::to_string(2 * values.size()) + "u";
        out += "let " + name + " = " + values[k] + "; r[n * " + count + " + " + at + "] = " + name +
               "; var w" + name + " = x; if odd { w" + name + " = " + values[k] + "; } r[n * " +
               count + " + " + at + " + " + std::to_string(values.size()) + "u] = w" + name + "; ";
    }
    return out +
           "let odd_lane = lane % 2u == 1u; let most = lane % 64u != 63u;"
           " let some = subgroup_any(!most); let every = subgroup_all(most);"
           " let ballot = subgroup_ballot(odd_lane); b[n] = ballot;"
           " c[n] = u32x4(u32(some) + 2u * u32(every), subgroup_size + 256u * num_subgroups,"
           " subgroup_id, subgroup_lane); }";
}

void compare(test::Rig& rig, const Type& type, const std::string& workgroup, unsigned width) {
    CAPTURE(std::string(type.name));
    CAPTURE(workgroup);
    CAPTURE(width);
    const std::array<std::uint32_t, 3> groups = {2, 1, 2};
    test::Loaded program(rig, text(type, workgroup, width));
    REQUIRE(program.failure().message == "");
    const auto size = program.workgroup();
    const std::size_t count = std::size_t{size[0]} * size[1] * size[2] * 4;
    support::Random random(width);
    oracle::Launch launch;
    launch.groups = groups;
    launch.buffers = {support::random_scalars(random, type.kind, count),
                      support::random_scalars(random, WYE_KIND_U32, count)};
    const std::size_t results = type.integer ? 22 : 16;
    const std::size_t bytes = launch.buffers[0].size();
    for (const std::size_t output : {bytes * results, count * 16, count * 16})
        launch.buffers.emplace_back(output);
    const oracle::Outcome expected = oracle::run(program.wire(), launch);
    REQUIRE(expected.error == "");
    const auto result = program.run({}, launch.buffers, groups);
    REQUIRE(result.failure.message == "");
    for (std::size_t n = 2; n < expected.buffers.size(); ++n)
        CHECK(result.buffers[n] == expected.buffers[n]);
}

}  // namespace

TEST_CASE("subgroup operations of every width and type give the oracle's bytes") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        for (const Type& type : kTypes)
            for (const unsigned width : {4U, 8U, 16U, 32U, 64U, 128U}) {
                compare(rig, type, "128", width);
                compare(rig, type, "32, 4, 3", width);
                if (width <= 8) compare(rig, type, "3, 8", width);
            }
    }
}

TEST_CASE("without a demand subgroups have 32 lanes") {
    test::Rig rig;
    test::Loaded program(rig,
                         "wye 1; program w; workgroup 64; output r: u32[2]; main { r[0] = "
                         "subgroup_size; r[1] = num_subgroups; }");
    REQUIRE(program.failure().message == "");
    const auto result = program.run({}, {test::Bytes(8)}, {{1, 1, 1}});
    CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == std::vector<std::uint32_t>{32, 2});
}
