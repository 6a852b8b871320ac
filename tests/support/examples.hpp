// SPDX-License-Identifier: Apache-2.0
//
// Launches of the example programs (runtime/examples/programs), with inputs and with the results
// that plain C++ on the host computes. They serve tests of the oracle and of devices, through any
// API. Values; the same seed gives the same launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace support {

struct ExampleBuffer {
    std::string name;
    bool input = false;               // the content is `before`; else zeros
    bool output = false;              // compare with `expected`
    std::vector<std::byte> before;    // of an output: zeros, as long as the buffer
    std::vector<std::byte> expected;  // after the last dispatch
};

struct Example {
    std::string program;                 // "saxpy"
    std::string what;                    // "257 elements"
    std::vector<ExampleBuffer> buffers;  // in binding order, without `shared`
    // The bits of the parameters of each dispatch, in declared order. The dispatches run in order
    // on the same buffers, with the grid of the program's grid clause.
    std::vector<std::vector<std::uint64_t>> dispatches;
    std::vector<std::string> params;  // names of the parameters
};

// The names of all example programs, sorted.
const std::vector<std::string>& example_programs();

// The text of an example program. Throws std::runtime_error if there is no such program.
std::string example_text(const std::string& program);

// Launches of one program: empty and tiny ones, sizes around the workgroup size, larger sizes.
// `scale` multiplies the larger sizes; 1 is small enough for the oracle.
std::vector<Example> examples(const std::string& program, std::uint64_t seed,
                              std::size_t scale = 1);

// One launch of a program, for slow or often repeated tests. The inputs have at most 4 KiB if the
// program has such a launch.
Example small_example(const std::string& program);

}  // namespace support
