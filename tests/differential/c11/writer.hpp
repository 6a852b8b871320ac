// SPDX-License-Identifier: Apache-2.0
//
// Writes programs as plain C11 for the system's compiler. It is the smallest writer of the middle
// form. A call runs one invocation; the runner lets invocations wait for one another.
#pragma once

#include <cstdint>
#include <string>

#include "wye/sdk/program.hpp"

namespace c11 {

// The argument of each call of `wye_main`. The written text declares the same structure.
struct Call {
    void* const* buffers;          // by buffer number, `shared` arrays included
    const std::uint64_t* lengths;  // of the buffers
    const std::uint64_t* params;   // bits of each parameter
    std::uint32_t group[3], groups[3], local[3];
    std::uint32_t index;   // of the invocation in its workgroup
    std::uint32_t* slots;  // of the workgroup; each invocation has one
    std::uint32_t trap_code, trap_count;
    // Waits until all invocations of the workgroup have called `wait`. If `workgroup` is 0, waits
    // for those of the subgroup only.
    void (*wait)(Call* call, int workgroup);
};

// Writes a program. `program` must be valid, and have no math functions and no grid barriers.
// `subgroup`: the width of subgroups; 0: the program uses none. The function is named `wye_main`.
[[nodiscard]] std::string write(const wye::ir::Program& program, std::uint32_t subgroup);

}  // namespace c11
