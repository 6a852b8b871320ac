// SPDX-License-Identifier: Apache-2.0
#include "plan/capture.hpp"

#include <fmt/format.h>

namespace wye::plan {
namespace {

Result<void> grow(std::uint64_t& table, std::uint64_t by, const char* name,
                  const std::string& program) {
    if (!__builtin_add_overflow(table, by, &table)) return {};
    return Error(
        Code::LIMIT_EXCEEDED,
        fmt::format("the capture plan has 2^64 entries or more in its {} with `{}`", name, program),
        "Fix: record fewer dispatches in one graph", program);
}

}  // namespace

Result<void> add_to_capture(const BindingPlan& bindings, const std::string& program,
                            CapturePlan& plan) {
    CapturePlan out = plan;
    WYE_TRY(grow(out.dispatches, 1, "list of dispatches", program));
    for (const std::uint32_t index : bindings.arguments) {
        const Binding& binding = bindings.bindings[index];
        const bool input = binding.input_index.has_value();
        WYE_TRY(grow(out.kernel_pointers, 1, "table of kernel pointers", program));
        WYE_TRY(grow(input ? out.input_buffers : out.output_buffers, 1,
                     input ? "table of input buffers" : "table of output buffers", program));
        if (binding.output_index) WYE_TRY(grow(out.readbacks, 1, "table of read-backs", program));
        if (binding.role == ir::Role::INPUT_OUTPUT || binding.role == ir::Role::PERSISTENT)
            out.replay_safe = false;
    }
    WYE_TRY(grow(out.kernel_arguments, bindings.arguments.size(), "table of kernel arguments",
                 program));
    WYE_TRY(grow(out.kernel_arguments, 1, "table of kernel arguments", program));
    plan = out;
    return {};
}

}  // namespace wye::plan
