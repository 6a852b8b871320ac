// SPDX-License-Identifier: Apache-2.0
//
// SpirvUsage: finds what a program uses from outside the code. This must be known before writing,
// since the slot block needs a fixed layout, and buffers need types and decorations. Pure.
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
        bool length = false;     // whether its length is read, or an index is compared with it
        bool passed = false;     // the result of passed_at_barriers
        bool read_back = false;  // whether a load may follow a write by the same invocation
    };
    std::vector<Buffer> buffers;
    std::vector<bool> functions;      // by function: whether main reaches it
    bool arithmetic = false;          // whether a compiler may fold float operations
    bool floats_of_integers = false;  // whether integers become floats, by bits or by value
    bool counts = false;              // whether popcount is used
    bool disguises = false;           // whether a quirk may disguise integers
    bool trap = false;
    SpirvUsage(const ir::Program& program, const Ranges& ranges, QuirkSet quirks);

    // Whether the buffer must be Coherent: invocations may pass data through it at a barrier or,
    // for the quirk `nvidia-vk-read-back`, an invocation reads back its own writes.
    [[nodiscard]] bool coherent(std::uint32_t buffer) const {
        const Buffer& b = buffers[buffer];
        return b.read_back || (b.passed && (b.stored || b.loaded));
    }
    // Whether some barrier must order buffers besides workgroup memory.
    [[nodiscard]] bool passes_buffers() const {
        return std::ranges::any_of(buffers, &Buffer::passed);
    }
};

}  // namespace wye::lower
