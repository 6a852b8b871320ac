// SPDX-License-Identifier: Apache-2.0
//
// Hand-written C loops with which the CPU plugin is compared. They are compiled once for each
// instruction set, with the plugin's own flags.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wye::bench {

struct RawKernels {
    const char* isa;
    // Applies 64 rounds to each word, block by block. A round is xorshift, rotation, and addition
    // of the round's number.
    void (*mix)(std::uint32_t* words, std::size_t count);
    void (*saxpy)(float a, const float* x, const float* y, float* r, std::size_t count);
};

[[nodiscard]] RawKernels raw_baseline();
[[nodiscard]] RawKernels raw_avx2();
[[nodiscard]] RawKernels raw_avx512();

// The loops for the best instruction set of this processor.
[[nodiscard]] RawKernels raw_best();

}  // namespace wye::bench
