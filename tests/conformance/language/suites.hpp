// SPDX-License-Identifier: Apache-2.0
//
// The suites of tests for a device. Results are compared byte by byte with the scalar oracle, and
// with plain C++ where it exists.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "conformance/language/tally.hpp"
#include "support/device.hpp"

namespace conformance {

using support::Device;

// The example programs of the source tree, on host bytes and on resident buffers. `scale`
// multiplies the larger sizes; 0: one small launch each, for very slow devices.
void run_examples(const Device& device, const std::string& only, std::uint64_t seed,
                  std::size_t scale, Tally& tally);

// Small programs for single features of the language; `only`: the name of one, or empty.
void run_features(const Device& device, const std::string& only, Tally& tally);

// The capabilities that the device claims: a program that needs each runs on it. One that no
// program exercises must not be claimed.
void run_capabilities(const Device& device, Tally& tally);

// Programs that use all of a limit that the device claims.
void run_limits(const Device& device, Tally& tally);

// The examples of the language reference.
void run_reference(const Device& device, Tally& tally);

// The seeds [first, last), or the numbers of cases. After `time` no other one begins. Failing
// programs are written to the folder `dump`, if it is not empty.
struct Seeds {
    std::uint64_t first = 0, last = 100;
    std::chrono::seconds time = std::chrono::hours(24);
    std::string dump;
};
// Random programs, within the device's capabilities.
void run_random(const Device& device, const Seeds& seeds, Tally& tally);

// Random programs that may trap: compares code and count, and that a trap delivers no outputs.
void run_traps(const Device& device, const Seeds& seeds, Tally& tally);

// All results of the math functions of f32 with one argument, 16 cases for each.
void run_functions(const Device& device, const Seeds& cases, Tally& tally);

// Every operation on every type, with `inputs` inputs each (for 8 and 16-bit types, every value of
// the type comes first), within the device's capabilities. `only`: the name of one type, or empty.
void run_sweeps(const Device& device, const std::string& only, std::uint64_t inputs, Tally& tally);
// The sweep's part for subgroup operations, if `only` is empty or "subgroup".
void sweep_subgroups(const Device& device, std::uint64_t inputs, Tally& tally);
// The sweep's part for math functions, if `only` is empty or "math".
void sweep_math(const Device& device, std::uint64_t inputs, Tally& tally);

}  // namespace conformance
