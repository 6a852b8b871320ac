// SPDX-License-Identifier: Apache-2.0
#include "cpu/command.hpp"

#include <algorithm>
#include <new>

#include "cpu/program.hpp"
#include "cpu/queue.hpp"
#include "cpu/run/dispatch.hpp"

namespace wye::cpu {

Result<std::unique_ptr<Command>> Command::create(Device& device, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(
                   Plugin::kPlugin, desc,
                   [](wye_program_object* program) { return program_of(program).sizes(); },
                   Queue::kLaunchFlags));
    return std::unique_ptr<Command>(new Command(device.plugin, std::move(list)));
}

Command::Command(Plugin& plugin, sdk::CommandList list) : plugin_(plugin), list_(std::move(list)) {
    prepare();
}

void Command::prepare() {
    launches_.clear();
    small_.reset();
    is_short_ = false;
    const auto differs = [](const wye_operation& op) {
        constexpr std::uint32_t kLate = WYE_LAUNCH_LATE_GRID | WYE_LAUNCH_INDIRECT;
        return op.kind == WYE_OPERATION_DISPATCH && (op.u.dispatch.flags & kLate) != 0;
    };
    if (std::ranges::any_of(list_.operations(), differs)) return;
    small_ = cpu::is_small(list_.operations());
    try {
        std::vector<Launch> made;
        made.reserve(list_.operations().size());
        for (const wye_operation& op : list_.operations()) {
            if (op.kind != WYE_OPERATION_DISPATCH) return;
            auto launch = make_launch(op.u.dispatch);
            if (!launch.ok()) return;  // each execution then reports the error
            made.push_back(*launch);
        }
        launches_ = std::move(made);
        is_short_ = *small_ && launches_.size() == 1 && is_short(launches_.front());
        if (is_short_ && !list_.has_late_slots())
            launches_.front().number = plugin_.launches.fetch_add(1, std::memory_order_relaxed) + 1;
    } catch (const std::bad_alloc&) {  // each execution then prepares its own launches
    }
}

bool Command::is_small(const wye_execute_op& execution) {
    return small_ ? *small_ : cpu::is_small(list_.resolve(execution));
}

void Command::describe(wye_command_info& out) const {
    out.late_params = out.late_slots = out.late_grid = WYE_LATE_ARGUMENT;
    out.bytes = list_.bytes();
}

Result<void> Command::update(std::uint64_t index, const wye_operation& operation) {
    WYE_TRY(list_.update(index, operation));
    prepare();
    return {};
}

}  // namespace wye::cpu
