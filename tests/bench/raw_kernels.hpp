// SPDX-License-Identifier: Apache-2.0
//
// The hand-written C loops that the CPU plugin is measured against, compiled once per instruction
// set with the plugin's own flags.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wye::bench {

struct RawKernels {
    const char* isa;
    // 64 rounds of xorshift, rotation and round number over each word, blocked over lanes.
    void (*mix)(std::uint32_t* words, std::size_t count);
    void (*saxpy)(float a, const float* x, const float* y, float* r, std::size_t count);
};

[[nodiscard]] RawKernels raw_baseline();
[[nodiscard]] RawKernels raw_avx2();
[[nodiscard]] RawKernels raw_avx512();

// The best instruction set of this processor.
[[nodiscard]] RawKernels raw_best();

}  // namespace wye::bench
