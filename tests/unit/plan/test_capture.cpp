// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>

#include "plan/capture.hpp"

namespace wye::plan {
namespace {

ir::Program captured(const std::vector<ir::Role>& roles) {
    ir::Program program;
    program.name = "p";
    for (std::size_t i = 0; i < roles.size(); ++i) {
        ir::Buffer& buffer = program.buffers.emplace_back();
        buffer.name = "b" + std::to_string(i);
        buffer.binding = static_cast<std::uint32_t>(i);
        buffer.role = roles[i];
        buffer.type = ir::kU32;
    }
    return program;
}

TEST_CASE("a capture plan counts each table of one dispatch") {
    using ir::Role;
    const auto plan = binding_plan(
        captured({Role::INPUT, Role::SHARED, Role::OUTPUT, Role::INPUT_OUTPUT, Role::UNIFORM}));
    REQUIRE(plan.ok());
    CapturePlan out;
    REQUIRE(add_to_capture(*plan, "p", out).ok());
    CHECK(out.dispatches == 1);
    CHECK(out.input_buffers == 3);
    CHECK(out.output_buffers == 1);
    CHECK(out.readbacks == 2);
    CHECK(out.kernel_pointers == 4);
    CHECK(out.kernel_arguments == 5);
    CHECK(!out.replay_safe);
}

TEST_CASE("dispatches add up, and the order of their buffers does not matter") {
    std::mt19937 random(7);
    CapturePlan sum, want;
    for (int round = 0; round < 300; ++round) {
        std::vector<ir::Role> roles;
        std::uint64_t arguments = 0;
        for (std::size_t i = 0, count = random() % 64; i < count; ++i) {
            const auto role = static_cast<ir::Role>(1 + random() % 6);
            roles.push_back(role);
            if (role == ir::Role::SHARED) continue;
            const bool in = role == ir::Role::INPUT || role == ir::Role::UNIFORM ||
                            role == ir::Role::INPUT_OUTPUT;
            const bool both = role == ir::Role::INPUT_OUTPUT;
            want.input_buffers += in ? 1 : 0;
            want.output_buffers += in ? 0 : 1;
            want.readbacks += both || role == ir::Role::OUTPUT ? 1 : 0;
            if (both || role == ir::Role::PERSISTENT) want.replay_safe = false;
            ++arguments;
        }
        ++want.dispatches;
        want.kernel_pointers += arguments;
        want.kernel_arguments += arguments + 1;
        const auto plan = binding_plan(captured(roles));
        REQUIRE(plan.ok());
        REQUIRE(add_to_capture(*plan, "p", sum).ok());
    }
    CHECK(sum.dispatches == want.dispatches);
    CHECK(sum.input_buffers == want.input_buffers);
    CHECK(sum.output_buffers == want.output_buffers);
    CHECK(sum.readbacks == want.readbacks);
    CHECK(sum.kernel_pointers == want.kernel_pointers);
    CHECK(sum.kernel_arguments == want.kernel_arguments);
    CHECK(sum.replay_safe == want.replay_safe);
}

TEST_CASE("a table that overflows is refused by name, and the plan stays as it was") {
    const auto plan = binding_plan(captured({ir::Role::INPUT, ir::Role::OUTPUT}));
    REQUIRE(plan.ok());
    struct Row {
        std::uint64_t CapturePlan::*table;
        std::uint64_t least;  // with this count, the table is full
        const char* name;
    };
    const Row rows[] = {
        {&CapturePlan::dispatches, UINT64_MAX, "list of dispatches"},
        {&CapturePlan::input_buffers, UINT64_MAX, "table of input buffers"},
        {&CapturePlan::output_buffers, UINT64_MAX, "table of output buffers"},
        {&CapturePlan::readbacks, UINT64_MAX, "table of read-backs"},
        {&CapturePlan::kernel_pointers, UINT64_MAX - 1, "table of kernel pointers"},
        {&CapturePlan::kernel_arguments, UINT64_MAX - 2, "table of kernel arguments"}};
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CapturePlan full;
        full.*row.table = row.least - 1;
        CapturePlan fits = full;
        CHECK(add_to_capture(*plan, "p", fits).ok());
        full.*row.table = row.least;
        const CapturePlan before = full;
        const auto refused = add_to_capture(*plan, "p", full);
        REQUIRE(!refused.ok());
        CHECK(refused.error().code == Code::LIMIT_EXCEEDED);
        CHECK(refused.error().message.find(row.name) != std::string::npos);
        CHECK(refused.error().fix.starts_with("Fix: "));
        CHECK(full.dispatches == before.dispatches);
        CHECK(full.kernel_pointers == before.kernel_pointers);
        CHECK(full.kernel_arguments == before.kernel_arguments);
    }
}

}  // namespace
}  // namespace wye::plan
