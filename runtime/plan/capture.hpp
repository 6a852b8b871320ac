// SPDX-License-Identifier: Apache-2.0
//
// The capture plan: the number of objects that a backend must keep to record dispatches once and
// replay them, counted from their binding plans. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "plan/binding.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

struct CapturePlan {
    std::uint64_t dispatches = 0;
    std::uint64_t input_buffers = 0;   // buffers of the input list, including input_output
    std::uint64_t output_buffers = 0;  // all other buffers except `shared` ones
    std::uint64_t readbacks = 0;       // buffers of the output list
    std::uint64_t kernel_pointers = 0;
    // kernel_pointers, and one parameter block for each dispatch.
    std::uint64_t kernel_arguments = 0;
    // No dispatch writes a buffer that it reads, so each replay produces the same bytes.
    bool replay_safe = true;
};

// Adds one dispatch. LIMIT_EXCEEDED names the table whose size overflows, and leaves `plan`
// unchanged. `program`: its name for the error.
[[nodiscard]] Result<void> add_to_capture(const BindingPlan& bindings, const std::string& program,
                                          CapturePlan& plan);

}  // namespace wye::plan
