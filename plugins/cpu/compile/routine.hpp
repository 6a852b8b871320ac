// SPDX-License-Identifier: Apache-2.0
//
// Routine: a compiled program: a flat list of instructions for one block geometry. Immutable once
// made: any number of threads may run it, each in its own frame.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/run/frame.hpp"

namespace wye::cpu {

// How invocations are arranged in blocks of lanes.
enum class Geometry : std::uint8_t {
    Row,    // lanes are consecutive global_id.x; y and z are equal within a block
    Flat,   // lanes are consecutive invocations of the grid, for grids narrow in x
    Group,  // a block is a workgroup, a lane is a local_index; for barriers and shared arrays
};

// Numbers of the scalars that the runner sets, for each block or once per dispatch. kNoSlot: not
// needed.
struct Coordinates {
    std::array<std::uint32_t, 3> global = {kNoSlot, kNoSlot, kNoSlot};  // global_id of lane 0
    std::array<std::uint32_t, 3> workgroup = {kNoSlot, kNoSlot, kNoSlot};
    std::array<std::uint32_t, 3> local = {kNoSlot, kNoSlot, kNoSlot};
    std::array<std::uint32_t, 3> counts = {kNoSlot, kNoSlot, kNoSlot};  // num_workgroups
    // Offsets of lane registers (u32) that the runner sets. Flat: global ids, set for each block.
    // Group: local ids, set once.
    std::array<std::uint32_t, 3> lanes = {kNoSlot, kNoSlot, kNoSlot};
};

struct ParamSlot {
    std::uint32_t scalar = 0;
    std::uint32_t offset = 0;  // in the parameter block
    std::uint32_t bytes = 0;   // 4 or 8
};
struct LengthSlot {
    std::uint32_t scalar = 0;
    std::uint32_t array = 0;  // index into Frame::bound
    bool wide = false;        // a 64-bit length (len64)
};
struct Shared {
    std::uint32_t array = 0;   // index into Frame::bound
    std::uint64_t offset = 0;  // in the workgroup's memory
    std::uint64_t count = 0;
    bool zero = true;
};

struct Routine {
    std::uint64_t number = 0;  // unique in the plugin, even after the routine is destroyed
    Geometry geometry = Geometry::Row;
    std::vector<Instr> instrs;
    std::uint32_t lanes = kTile;   // capacity of a register
    std::uint64_t lane_bytes = 0;  // size of Frame::base
    std::uint32_t mask = 0;        // byte offset of the active mask
    std::uint32_t scalars = 0;     // number of scalars
    std::uint32_t views = 0;       // number of view registers
    std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  // scalar, value
    std::vector<ParamSlot> params;
    std::vector<LengthSlot> lengths;
    Coordinates coordinates;
    std::uint64_t weight = 0;  // estimated time of 64 lanes for all instructions, once each, in ns
    bool traps = false;
    bool uses_floats = false;  // has floating-point instructions, so needs a FloatState
};

}  // namespace wye::cpu
