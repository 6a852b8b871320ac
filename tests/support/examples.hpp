// SPDX-License-Identifier: Apache-2.0
//
// Launches of the example programs (runtime/examples/programs), with inputs and with the results
// that plain C++ on the host expects. For the oracle and for every device, through whatever API.
// Values; the same seed gives the same launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace support {

struct ExampleBuffer {
    std::string name;
    bool input = false;               // initial content is `before`; else zeros
    bool output = false;              // `expected` is compared
    std::vector<std::byte> before;    // of an output: zeros, as long as the buffer
    std::vector<std::byte> expected;  // after the last dispatch
};

struct Example {
    std::string program;                 // "saxpy"
    std::string what;                    // "257 elements"
    std::vector<ExampleBuffer> buffers;  // in binding order, without `shared`
    // The bits of the parameters in declared order, one list per dispatch. The dispatches run in
    // order on the same buffers, with the program's own grid.
    std::vector<std::vector<std::uint64_t>> dispatches;
    std::vector<std::string> params;  // names of the parameters
};

// The names of all example programs, sorted.
const std::vector<std::string>& example_programs();

// The text of an example program. Throws std::runtime_error for another name.
std::string example_text(const std::string& program);

// Launches of one program: empty and tiny ones, sizes around the workgroup size, larger ones.
// `scale` multiplies the larger sizes; 1 suits the oracle.
std::vector<Example> examples(const std::string& program, std::uint64_t seed,
                              std::size_t scale = 1);

// One launch of a program, with at most 4 KiB of input if the program has such a launch. For slow
// or often repeated tests.
Example small_example(const std::string& program);

}  // namespace support
