// SPDX-License-Identifier: Apache-2.0
//
// Compiled once per instruction set. WYE_RAW_SET names the function; WYE_RAW_ISA names the set.
#include "raw_kernels.hpp"

namespace wye::bench {
namespace {

constexpr std::size_t kLanes = 64;  // words of a block; each round covers the whole block

void mix(std::uint32_t* words, std::size_t count) {
    std::size_t at = 0;
    for (; at + kLanes <= count; at += kLanes) {
        std::uint32_t v[kLanes];
        for (std::size_t i = 0; i < kLanes; ++i) v[i] = words[at + i];
        for (std::uint32_t round = 0; round < 64; ++round) {
            for (std::size_t i = 0; i < kLanes; ++i) {
                std::uint32_t w = v[i];
                w ^= w << 13U;
                w ^= w >> 17U;
                w ^= w << 5U;
                v[i] = ((w << 7U) | (w >> 25U)) + round;
            }
        }
        for (std::size_t i = 0; i < kLanes; ++i) words[at + i] = v[i];
    }
    for (; at < count; ++at) {
        std::uint32_t w = words[at];
        for (std::uint32_t round = 0; round < 64; ++round) {
            w ^= w << 13U;
            w ^= w >> 17U;
            w ^= w << 5U;
            w = ((w << 7U) | (w >> 25U)) + round;
        }
        words[at] = w;
    }
}

void saxpy(float a, const float* x, const float* y, float* __restrict r, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) r[i] = a * x[i] + y[i];
}

}  // namespace

RawKernels WYE_RAW_SET() { return {WYE_RAW_ISA, &mix, &saxpy}; }

}  // namespace wye::bench
