// SPDX-License-Identifier: Apache-2.0
//
// The benchmark cases: a Wye program, hand-written kernels of the same arithmetic, and their data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wye::bench {

enum class Content {
    Words,   // random bits
    Floats,  // from 0.5 to 1.5
    Output,  // every element is written
    Sum,     // added to: zero before each launch
};

struct CaseBuffer {
    std::string name;  // in the Wye program; raw kernels take them in this order
    std::uint64_t bytes = 0;
    Content content = Content::Words;
    bool floats = false;  // of an output: compared with a tolerance where the arithmetic differs

    [[nodiscard]] bool output() const {
        return content == Content::Output || content == Content::Sum;
    }
};

struct CaseParam {
    std::string name;
    std::uint32_t bits = 0;
};

using Size3 = std::array<std::uint32_t, 3>;

struct Launch {
    std::string kernel;  // the stem of its file
    Size3 groups{1, 1, 1};
    Size3 workgroup{1, 1, 1};
    std::vector<std::uint32_t> words;  // arguments after the buffers
};

struct Case {
    std::string name;
    std::string program;  // the stem of its .wye file
    std::vector<CaseBuffer> buffers;
    std::vector<CaseParam> params;
    bool own_grid = false;      // Wye gets the groups of `strict` instead of the program's own grid
    Launch strict;              // the same arithmetic
    Launch fast;                // as fast as its author could make it
    std::uint64_t traffic = 0;  // bytes moved, where memory is the limit
};

// Full sizes keep a large GPU busy for at least 0.2 ms; tiny ones are for a CPU.
[[nodiscard]] std::vector<Case> cases(bool tiny);

// Cases for a CPU, in sizes that need no range checks: compiled code is that of the full sizes.
[[nodiscard]] std::vector<Case> check_free_cases();

// The bytes that a buffer begins with, from `offset` on.
void fill(Content content, std::uint64_t offset, std::vector<std::byte>& out);

}  // namespace wye::bench
