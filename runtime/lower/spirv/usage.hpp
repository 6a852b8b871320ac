// SPDX-License-Identifier: Apache-2.0
//
// What a program uses of its surroundings, found before a word of SPIR-V is written: the slot block
// needs a fixed layout, and buffers their type and decorations. Pure; a value.
#pragma once

#include <algorithm>
#include <vector>

#include "lower/analysis/ranges.hpp"
#include "lower/quirks/quirks.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

struct SpirvUsage {
    struct Buffer {
        bool touched = false;
        bool loaded = false;
        bool stored = false;
        bool atomic = false;
        bool float_atomic = false;
        bool length = false;     // its count is asked for, or compared with
        bool passed = false;     // passed_at_barriers
        bool read_back = false;  // a load may follow a write of the same invocation
    };
    std::vector<Buffer> buffers;
    std::vector<bool> functions;  // reached from main
    bool arithmetic = false;      // float operations a compiler might fold
    bool counts = false;          // popcount
    bool disguises = false;       // integers that the driver must not see through
    bool trap = false;
    SpirvUsage(const ir::Program& program, const Ranges& ranges, QuirkSet quirks);

    // Buffers that invocations may pass data through at a barrier; and for the
    // quirk `nvidia-vk-read-back` those that an invocation reads back.
    [[nodiscard]] bool coherent(std::uint32_t buffer) const {
        const Buffer& b = buffers[buffer];
        return b.read_back || (b.passed && (b.stored || b.loaded));
    }
    // Some barrier has to order more than workgroup memory.
    [[nodiscard]] bool passes_buffers() const {
        return std::ranges::any_of(buffers, &Buffer::passed);
    }
};

}  // namespace wye::lower
