// SPDX-License-Identifier: Apache-2.0
//
// What a device is asked to do, and how its answers are judged: byte by byte, against the scalar
// oracle, and against plain C++ where there is some.
#pragma once

#include <cstdint>
#include <string>

#include "support/device.hpp"

namespace conformance {

struct Count {
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
};

// The example programs from the source tree, on host bytes and on resident buffers. `scale`
// multiplies the larger sizes; 0: one small launch of each, for devices that are very slow.
Count run_examples(const Device& device, const std::string& only, std::uint64_t seed,
                   std::size_t scale);

// Small programs for single features of the language; `only`: the name of one, or empty.
Count run_features(const Device& device, const std::string& only);

// Random programs with the seeds [first, last), within what the device says it can do. Failing
// programs are written to `dump` (a folder), if it is not empty.
Count run_random(const Device& device, std::uint64_t first, std::uint64_t last,
                 const std::string& dump);

// Random programs that may trap: the code, the count, and that nothing is delivered then.
Count run_traps(const Device& device, std::uint64_t first, std::uint64_t last,
                const std::string& dump);

// Every operation on every type, `inputs` of them each (8 and 16-bit types begin with all there
// are), within what the device says it can do. `only`: the name of one type, or empty.
Count run_sweeps(const Device& device, const std::string& only, std::uint64_t inputs);
// Its part for subgroup operations, where `only` is empty or "subgroup".
Count sweep_subgroups(const Device& device, std::uint64_t inputs);
// Its part for math functions, where `only` is empty or "math".
Count sweep_math(const Device& device, std::uint64_t inputs);

}  // namespace conformance
