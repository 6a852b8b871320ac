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
    std::uint64_t output_buffers = 0;  // all other buffers except `shared` arrays
    std::uint64_t readbacks = 0;       // buffers of the output list
    std::uint64_t kernel_pointers = 0;
    // Kernel arguments: kernel_pointers, and one parameter block for each dispatch.
    std::uint64_t kernel_arguments = 0;
    // Whether each replay produces the same bytes: no dispatch writes a buffer that it reads.
    bool replay_safe = true;
};

// Adds one dispatch. `program` is the program's name for the error. Error: LIMIT_EXCEEDED, which
// names the table whose size overflows; `plan` is then unchanged.
[[nodiscard]] Result<void> add_to_capture(const BindingPlan& bindings, const std::string& program,
                                          CapturePlan& plan);

}  // namespace wye::plan
