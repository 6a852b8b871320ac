// SPDX-License-Identifier: Apache-2.0
//
// The suites of cases for a device. The results are compared byte by byte with those of the scalar
// oracle, and with those of plain C++ where the case has them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "conformance/language/tally.hpp"
#include "support/device.hpp"

namespace conformance {

using support::Device;

// The example programs of the source tree, each on host memory and on buffers of the device.
// `scale` multiplies the larger sizes; 0: one small launch for each program, for very slow devices.
void run_examples(const Device& device, const std::string& only, std::uint64_t seed,
                  std::size_t scale, Tally& tally);

// Small programs for single features of the language. `only`: the name of one program, or empty.
void run_features(const Device& device, const std::string& only, Tally& tally);

// For each capability that the device claims, runs a program that needs the capability. A claimed
// capability that no program and no other case exercises is a failure.
void run_capabilities(const Device& device, Tally& tally);

// Programs that use all that a limit allows, for each limit that the device claims.
void run_limits(const Device& device, Tally& tally);

// The examples of the language reference.
void run_reference(const Device& device, Tally& tally);

// The seeds or case numbers of a suite: [first, last), in steps of `every`. After `time` no further
// case begins. Programs that fail are written to the folder `dump`, unless that is empty.
struct Seeds {
    std::uint64_t first = 0, last = 100, every = 1;
    std::chrono::seconds time = std::chrono::hours(24);
    std::string dump;
};
// Random programs, within the device's capabilities.
void run_random(const Device& device, const Seeds& seeds, Tally& tally);

// Random programs that may trap. Checks the trap code and count, and that a launch that traps
// delivers no outputs.
void run_traps(const Device& device, const Seeds& seeds, Tally& tally);

// The math functions of f32 with one argument, on all values of f32. Each function has 16 cases.
void run_functions(const Device& device, const Seeds& cases, Tally& tally);

// Every operation on every type that the device can compute with, on `inputs` inputs each. For
// types of 8 and 16 bits the first inputs are all values of the type. `only`: the name of one type,
// or empty.
void run_sweeps(const Device& device, const std::string& only, std::uint64_t inputs, Tally& tally);
// The part of run_sweeps for subgroup operations; run if `only` is empty or "subgroup".
void sweep_subgroups(const Device& device, std::uint64_t inputs, Tally& tally);
// The part of run_sweeps for math functions; run if `only` is empty or "math".
void sweep_math(const Device& device, std::uint64_t inputs, Tally& tally);

}  // namespace conformance
