// SPDX-License-Identifier: Apache-2.0
//
// Writes programs as plain C11 for the system's compiler: the smallest writer of the middle form. A
// call runs one invocation; its runner makes invocations wait for one another.
#pragma once

#include <cstdint>
#include <string>

#include "wye/sdk/program.hpp"

namespace c11 {

// The argument of a call, one per invocation. The written text declares the same structure.
struct Call {
    void* const* buffers;          // by buffer number, `shared` arrays included
    const std::uint64_t* lengths;  // of the buffers
    const std::uint64_t* params;   // bits
    std::uint32_t group[3], groups[3], local[3];
    std::uint32_t index;   // of the invocation in its workgroup
    std::uint32_t* slots;  // of the workgroup, one for each invocation
    std::uint32_t trap_code, trap_count;
    // Waits for all invocations of the workgroup, or of the subgroup.
    void (*wait)(Call* call, int workgroup);
};

// `program` must be valid, without math functions and grid barriers. `subgroup`: its width, or 0 if
// the program uses none. The entry is `wye_main`.
[[nodiscard]] std::string write(const wye::ir::Program& program, std::uint32_t subgroup);

}  // namespace c11
