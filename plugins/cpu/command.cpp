// SPDX-License-Identifier: Apache-2.0
#include "cpu/command.hpp"

#include "cpu/program.hpp"
#include "cpu/queue.hpp"

namespace wye::cpu {

Result<std::unique_ptr<Command>> Command::create(Device&, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(
                   Plugin::kPlugin, desc,
                   [](wye_program_object* program) { return program_of(program).sizes(); },
                   Queue::kLaunchFlags));
    return std::unique_ptr<Command>(new Command(std::move(list)));
}

void Command::describe(wye_command_info& out) const {
    out.late_params = out.late_slots = out.late_grid = WYE_LATE_ARGUMENT;
    out.bytes = list_.bytes();
}

Result<void> Command::update(std::uint64_t index, const wye_operation& operation) {
    return list_.update(index, operation);
}

}  // namespace wye::cpu
