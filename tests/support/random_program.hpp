// SPDX-License-Identifier: Apache-2.0
//
// Makes random programs for differential tests. They are well-typed, terminate, are deterministic
// and have no races, and their inputs, sizes and grids are difficult ones. Each program has exactly
// one right result, so any two devices must agree on every byte.
//
// Races are avoided by what an invocation may access. It may read inputs at any index, and use
// other buffers only at its own elements. Between two barriers, a `shared` array is used in one
// way: only at an invocation's own elements, only for reading, or only by one kind of atomic whose
// results are unused. Some buffers are used by such atomics alone. Values; the same seed gives the
// same program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace support {

struct RandomProgramOptions {
    bool int64 = true;
    bool atomic_int64 = true;         // atomics of 64 bits on buffers
    bool atomic_int64_shared = true;  // atomics of 64 bits on `shared` arrays
    bool f32 = true;
    bool f64 = true;        // needs f32
    bool storage16 = true;  // f16 and bf16, which need f32 too
    std::vector<std::uint32_t> subgroups = {4, 8, 16, 32, 64, 128};  // widths; empty: no subgroups
    bool traps = false;
    bool grid_barriers = false;
    bool kept = false;         // with `persistent` buffers and `live` inputs
    bool many_groups = false;  // many small workgroups, more than a device runs at once
    unsigned largest_group = 256;
    // The set of the math functions; 0: no math functions. They need f32, f64 and int64, even if
    // the program itself uses none of these types.
    unsigned math = 0;
    unsigned size = 12;  // approximate number of statements in main
};

struct RandomBuffer {
    std::string name;
    bool input = false;  // has content before the launch; if `persistent`, on the device
    bool output = false;
    bool persistent = false;
    std::vector<std::byte> before;  // of an output: zeros, as long as the buffer
};

struct RandomProgram {
    std::string text;
    std::vector<std::string> params;        // names, in declared order
    std::vector<std::uint64_t> values;      // bits of the parameters
    std::vector<RandomBuffer> buffers;      // in binding order, without `shared`
    std::array<std::uint32_t, 3> groups{};  // the grid of the launch
    bool clause = false;                    // the program has a grid clause, which gives `groups`
};

RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options = {});

}  // namespace support
