// SPDX-License-Identifier: Apache-2.0
#include "wye/capture.h"

#include "exec/api/api.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/capture.hpp"

using namespace wye::exec;
namespace plan = wye::plan;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

wye_status wye_capture_plan_make(wye_context* context, const wye_program* programs,
                                 uint64_t program_count, wye_capture_plan* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_capture_plan"));
        if (program_count == 0)
            return Error(Code::INVALID_ARGUMENT, "there is no program to plan for",
                         "Fix: pass the program of each dispatch", "program_count");
        WYE_NEED(programs);
        plan::CapturePlan made;
        for (std::uint64_t i = 0; i < program_count; ++i) {
            WYE_ASSIGN(const Pin pin, self->handles().find(programs[i], HandleKind::program));
            const LoadedProgram& program = pin.as<LoadedProgram>();
            WYE_TRY(plan::add_to_capture(program.plan().bindings, program.name(), made));
        }
        const wye_header header = out->header;
        *out = {header,
                made.dispatches,
                made.input_buffers,
                made.output_buffers,
                made.readbacks,
                made.kernel_pointers,
                made.kernel_arguments,
                made.replay_safe ? 1U : 0U,
                0};
        return {};
    });
}
