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
        bool length = false;     // its length is read, or an index is compared with it
        bool passed = false;     // passed_at_barriers
        bool read_back = false;  // a load may follow a write by the same invocation
    };
    std::vector<Buffer> buffers;
    std::vector<bool> functions;  // functions that main reaches
    bool arithmetic = false;      // float operations that a compiler may fold
    bool counts = false;          // popcount
    bool disguises = false;       // integers that a quirk may disguise
    bool trap = false;
    SpirvUsage(const ir::Program& program, const Ranges& ranges, QuirkSet quirks);

    // Buffers through which invocations may pass data at a barrier; for the
    // quirk `nvidia-vk-read-back` also those that an invocation reads back.
    [[nodiscard]] bool coherent(std::uint32_t buffer) const {
        const Buffer& b = buffers[buffer];
        return b.read_back || (b.passed && (b.stored || b.loaded));
    }
    // Whether some barrier must order buffers too.
    [[nodiscard]] bool passes_buffers() const {
        return std::ranges::any_of(buffers, &Buffer::passed);
    }
};

}  // namespace wye::lower
