// SPDX-License-Identifier: Apache-2.0
//
// The capture plan: what a backend has to keep to record dispatches once and replay them, counted
// from their binding plans. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "plan/binding.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

struct CapturePlan {
    std::uint64_t dispatches = 0;
    std::uint64_t input_buffers = 0;   // of the input list; an input_output counts here only
    std::uint64_t output_buffers = 0;  // others, but `shared`
    std::uint64_t readbacks = 0;       // of the output list
    std::uint64_t kernel_pointers = 0;
    std::uint64_t kernel_arguments = 0;  // the pointers, and the parameters of each dispatch
    // No dispatch changes what it reads: each replay leaves the same bytes.
    bool replay_safe = true;
};

// Adds one dispatch. LIMIT_EXCEEDED with the name of the table whose size overflows; `plan` is then
// as before. `program`: for the error.
[[nodiscard]] Result<void> add_to_capture(const BindingPlan& bindings, const std::string& program,
                                          CapturePlan& plan);

}  // namespace wye::plan
