// SPDX-License-Identifier: Apache-2.0
//
// A device of the fake driver that takes grids from buffers, and a program whose launches record
// how many workgroups they had. The fake driver checks a grid with its own arithmetic. A test on
// real devices (tests/unit/api/test_grid_buffer.cpp) shows that the library's program does the
// same.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "rig.hpp"
#include "wye/graph.h"

namespace wye::exec::test::grids {

using Words = std::vector<std::uint32_t>;

// A program without a grid clause. On the fake driver, spread_kernel() below runs instead.
inline constexpr std::string_view kSpread = R"(wye 1; program spread; workgroup 4;
input_output r: u32[]; main { r[global_id.x] = r[global_id.x] + 1u; })";

inline constexpr std::string_view kPicky = R"(wye 1; program picky; workgroup 4;
input_output r: u32[]; main { if r[global_id.x] == 9u { trap 7; } })";

inline bool is_check(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.binding_count == 2;
}
inline bool is_indirect(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_DISPATCH &&
           (operation.u.dispatch.flags & WYE_LAUNCH_INDIRECT) != 0;
}

// The check of a grid, as the comment of wye_dispatch_desc describes it.
inline void check_kernel(const wye_dispatch_op& op) {
    const auto* const params = static_cast<const std::uint32_t*>(op.params);
    REQUIRE(op.params_size == 20);
    REQUIRE(params[0] + 3 <= op.bindings[0].elements);
    const auto* const wanted = FakeDriver::data<std::uint32_t>(op.bindings[0]) + params[0];
    auto* const words = FakeDriver::data<std::uint32_t>(op.bindings[1]);
    REQUIRE(op.bindings[1].size == 64);
    const bool some = wanted[0] != 0 && wanted[1] != 0 && wanted[2] != 0;
    const std::uint64_t plane = std::uint64_t{wanted[0]} * wanted[1];
    bool fits = plane <= UINT32_MAX && plane * wanted[2] <= UINT32_MAX;
    for (int axis = 0; axis < 3; ++axis) fits = fits && wanted[axis] <= params[1 + axis];
    for (int axis = 0; axis < 3; ++axis) words[8 + axis] = some && fits ? wanted[axis] : 0;
    if (!some || fits) return;
    if (words[0] != 0x10001) {
        std::copy_n(wanted, 3, words + 2);
        words[5] = params[4];
    }
    words[0] = 0x10001;
    ++words[1];
}

// Writes the number of workgroups on each axis to r[0], r[1] and r[2], and counts in r[3] the
// launches that have at least one workgroup.
inline void spread_kernel(const wye_dispatch_op& op) {
    if (op.binding_count == 2) return check_kernel(op);
    const bool indirect = (op.flags & WYE_LAUNCH_INDIRECT) != 0;
    const std::uint32_t* const groups =
        indirect ? FakeDriver::data<std::uint32_t>(op.indirect) : op.groups;
    auto* const r = FakeDriver::data<std::uint32_t>(op.bindings[0]);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
    std::copy_n(groups, 3, r);
    ++r[3];
    if (op.trap.buffer == nullptr || r[4] != 9) return;
    auto* const trap = reinterpret_cast<std::uint32_t*>(FakeDriver::memory(op.trap));
    trap[0] = 7;
    ++trap[1];
}

struct Ready : Calls<Ready> {
    explicit Ready(bool commands = false) {
        rig.driver.facts[WYE_FACT_KEY_INDIRECT_DISPATCH] = 1;
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        rig.driver.commands = commands;
        rig.driver.kernel = spread_kernel;
        device = rig.device();
        program = rig.program(kSpread);
        r = rig.buffer(device, 32, "result");
        grid = rig.buffer(device, 64, "grid words");
        rig.upload(r, Words(8, 0));
        rig.upload(grid, Words(16, 0));
    }
    ~Ready() { rig.driver.holds = false; }

    Rig rig;
    wye_device device = 0;
    wye_program program = 0;
    wye_buffer r = 0, grid = 0;

    Job job(std::uint64_t offset = 0) const {
        Job out(program, device);
        out.resident(0, r);
        out.desc.flags = WYE_DISPATCH_INDIRECT;
        out.desc.grid_buffer = grid;
        out.desc.grid_offset = offset;
        return out;
    }
    // Writes words to the buffer of the grid, from a byte offset on.
    void write(const Words& words, std::uint64_t offset = 0) const {
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_upload_range(rig.context, grid, offset,
                                           {words.data(), words.size() * 4}, e);
        }));
    }
    // What the launches since the last call of this function wrote.
    Words results() const {
        const Words out = rig.download<std::uint32_t>(r, 4);
        rig.upload(r, Words(8, 0));
        return out;
    }
    std::vector<wye_operation> newest() {
        std::vector<wye_operation> out;
        out.swap(rig.driver.operations);
        return out;
    }
    wye_pending submit(const Job& job) const { return submitted(job); }
    Outcome record(std::vector<Job>& jobs, wye_graph& out) const {
        std::vector<wye_graph_step> steps;
        for (Job& job : jobs) steps.push_back({&job.filled(), nullptr});
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device;
        desc.steps = steps.data();
        desc.step_count = steps.size();
        desc.label = wye_str("steps");
        return attempt(
            [&](wye_error** e) { return wye_graph_create(rig.context, &desc, &out, e); });
    }
    Outcome run(wye_graph graph) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        return rig.run(graph, desc);
    }
    wye_pending submit(wye_graph graph) const {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        return rig.submitted(graph, desc);
    }
};

}  // namespace wye::exec::test::grids
