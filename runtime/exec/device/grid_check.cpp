// SPDX-License-Identifier: Apache-2.0
#include "exec/device/grid_check.hpp"

#include <algorithm>

#include "exec/device/session.hpp"
#include "exec/program/load.hpp"
#include "plan/admit.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// `words` is the memory of trap words. It keeps the first refused grid, even if later grids are
// refused. A division by zero does no harm: if a number is 0, nothing runs anyway.
constexpr std::string_view kText = R"(wye 1; program wye_grid_check; workgroup 1;
param first: u32; param most_x: u32; param most_y: u32; param most_z: u32; param number: u32;
input wanted: u32[]; input_output words: u32[16];
grid groups 1;
main {
    let x = wanted[first];
    let y = wanted[first + 1u];
    let z = wanted[first + 2u];
    let some = x != 0u && y != 0u && z != 0u;
    let fits = x <= most_x && y <= most_y && z <= most_z
        && y <= 4294967295u / x && z <= 4294967295u / (x * y);
    if some && !fits {
        if words[0] != 65537u {
            words[2] = x;
            words[3] = y;
            words[4] = z;
            words[5] = number;
        }
        words[0] = 65537u;
        words[1] = words[1] + 1u;
    }
    let runs = some && fits;
    words[8] = select(runs, x, 0u);
    words[9] = select(runs, y, 0u);
    words[10] = select(runs, z, 0u);
})";
static_assert(kGridRefused == 65537 && kGridPlace == 8 * sizeof(std::uint32_t) &&
              kTrapMemory == 16 * sizeof(std::uint32_t));

}  // namespace

std::string_view grid_check_text() noexcept { return kText; }

Result<GridCheck> DeviceSession::grid_check(bool compiles,
                                            std::optional<Clock::time_point> deadline) {
    GridCheck out;
    {
        const sdk::Lock lock(grid_check_mutex_);
        if (!grid_check_) {
            WYE_ASSIGN(grid_check_, load_text(kText, "wye_grid_check", {}));
        }
        out.program = grid_check_;
    }
    const Form form{};
    out.compiled = out.program->find_compiled(*this, form);
    if (out.compiled || !compiles) return out;
    // The report of the dispatch is about the dispatch's own program, so this compile is not
    // counted in the report.
    CompileStats stats;
    WYE_ASSIGN(out.compiled, compiled(*out.program, form, format_, stats, deadline));
    save(stats);
    return out;
}

Result<void> write_grid_check(const GridCheck& check, const CheckedGrid& grid,
                              wye_buffer_object* trap, GridCheckMemory& memory,
                              wye_operation& out) {
    constexpr std::uint64_t kWord = sizeof(std::uint32_t);
    const std::uint64_t begin =
        grid.offset / std::max(grid.alignment, kWord) * std::max(grid.alignment, kWord);
    const std::uint64_t first = (grid.offset - begin) / kWord;
    const std::uint64_t params[] = {first, grid.most[0], grid.most[1], grid.most[2], grid.number};
    const plan::ProgramPlan& plan = check.program->plan();
    WYE_TRY(plan::pack_params(plan, params, memory.params.data()));
    memory.bindings = {
        sdk::binding_of(grid.buffer, begin, first * kWord + plan::kGridBufferBytes, first + 3),
        sdk::binding_of(trap, 0, kTrapMemory, kTrapMemory / kWord)};
    out = sdk::new_operation(WYE_OPERATION_DISPATCH);
    wye_dispatch_op& op = out.u.dispatch;
    op.program = check.compiled->native.object();
    op.bindings = memory.bindings.data();
    op.binding_count = GridCheckMemory::kBindings;
    op.params = memory.params.data();
    op.params_size = plan.params.size;
    std::fill_n(op.groups, 3, 1U);
    std::fill_n(op.logical_groups, 3, 1U);
    return {};
}

}  // namespace wye::exec
