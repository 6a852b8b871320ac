// SPDX-License-Identifier: Apache-2.0
//
// Makes random programs for differential tests: well-typed, terminating, deterministic and free of
// races by construction, with difficult inputs, sizes and grids. Each has exactly one right result,
// so any two devices must agree on every byte.
//
// Races are avoided by restricting what an invocation accesses: inputs anywhere; other buffers only
// at its own elements; `shared` arrays, between two barriers, only at its own elements, or only for
// reading, or only by one kind of atomic whose results are unused; some buffers only by such
// atomics. Values; the same seed gives the same program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace support {

struct RandomProgramOptions {
    bool int64 = true;
    bool atomic_int64 = true;         // on buffers
    bool atomic_int64_shared = true;  // on `shared`
    bool f32 = true;
    bool f64 = true;        // needs f32
    bool storage16 = true;  // f16 and bf16, which need f32 too
    std::vector<std::uint32_t> subgroups = {4, 8, 16, 32, 64, 128};  // widths; empty: none
    bool traps = false;
    bool grid_barriers = false;
    bool kept = false;         // with `persistent` buffers and `live` inputs
    bool many_groups = false;  // more small workgroups than devices run at once
    unsigned largest_group = 256;
    // The math set of its math functions, which need f32, f64 and int64, even if the program names
    // none of these; 0: it has none.
    unsigned math = 0;
    unsigned size = 12;  // approximate number of statements in main
};

struct RandomBuffer {
    std::string name;
    bool input = false;  // has bytes at the start; if `persistent`, they are on the device already
    bool output = false;
    bool persistent = false;
    std::vector<std::byte> before;  // for an output: zeros, as long as the buffer
};

struct RandomProgram {
    std::string text;
    std::vector<std::string> params;        // names, in declared order
    std::vector<std::uint64_t> values;      // their bits
    std::vector<RandomBuffer> buffers;      // in binding order, without `shared`
    std::array<std::uint32_t, 3> groups{};  // the grid of the launch
    bool clause = false;                    // the program's grid clause states the same
};

RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options = {});

}  // namespace support
