// SPDX-License-Identifier: Apache-2.0
//
// The cases of the benchmark. Each case has a Wye program, hand-written kernels for the same work,
// and their data.
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
    Output,  // an output; the kernel writes every element
    Sum,     // an output that the kernel adds to; zeroed before each launch
};

struct CaseBuffer {
    std::string name;  // as in the Wye program; buffers have the order of the kernels' arguments
    std::uint64_t bytes = 0;
    Content content = Content::Words;
    bool floats = false;  // an output of floats; `fast` kernels may differ within a tolerance

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
    std::string kernel;  // the file's name without its ending
    Size3 groups{1, 1, 1};
    Size3 workgroup{1, 1, 1};
    std::vector<std::uint32_t> words;  // 32-bit arguments after the buffers
};

struct Case {
    std::string name;
    std::string program;  // the name of its .wye file without the ending
    std::vector<CaseBuffer> buffers;
    std::vector<CaseParam> params;
    bool own_grid = false;      // launch Wye with `strict.groups`, not the program's own grid
    Launch strict;              // the kernel with the same arithmetic as Wye
    Launch fast;                // the fastest kernel that its author could write
    std::uint64_t traffic = 0;  // bytes moved; 0: memory is not the limit
};

// All cases. With full sizes, each case keeps a large GPU busy for at least 0.2 ms. `tiny`: sizes
// for a CPU.
[[nodiscard]] std::vector<Case> cases(bool tiny);

// Like cases(true), but with sizes that need no range checks, so the code is that of full sizes.
[[nodiscard]] std::vector<Case> check_free_cases();

// Fills `out` with the initial content of a buffer, starting at the buffer's byte `offset`.
void fill(Content content, std::uint64_t offset, std::vector<std::byte>& out);

}  // namespace wye::bench
