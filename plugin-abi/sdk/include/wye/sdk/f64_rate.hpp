// SPDX-License-Identifier: Apache-2.0
//
// Measures how many products of f32 a device computes in the time of one product of f64. This is 2
// to 64 on GPUs, and few drivers report it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

inline constexpr std::uint32_t kMostRounds = 60000;  // some drivers end loops at 65,535

// Returns at least 1, or 0 if nothing could be told: the device's times do not grow with the work.
// `time(wide, rounds)` makes one workgroup multiply values of f64 (`wide`) or f32 in `rounds`
// steps. Each step has several products that do not depend on each other. `time` returns
// Result<double>, the duration of the launch in any unit. It is called with 0 rounds and with up to
// kMostRounds rounds.
template <typename Time>
[[nodiscard]] Result<std::uint64_t> f32_to_f64_rate(Time&& time) {
    constexpr double kMostRate = 1024;  // above that of any GPU, even if its driver emulates f64
    // Other work on the device can make a short launch look longer than a long one.
    for (unsigned tries = 0; tries < 4; ++tries) {
        WYE_ASSIGN(const double empty, time(false, 0U));
        WYE_ASSIGN(const double empty_wide, time(true, 0U));
        // Increases the rounds until the products take far longer than the rest of a launch.
        double narrow = 0;
        std::uint32_t rounds = kMostRounds / 64;
        do {
            rounds *= 4;
            WYE_ASSIGN(narrow, time(false, rounds));
        } while (narrow < 4 * empty && rounds < kMostRounds);
        WYE_ASSIGN(const double wide, time(true, rounds));
        if (narrow <= empty || wide <= empty_wide) continue;
        const double rate = (wide - empty_wide) / (narrow - empty);
        return static_cast<std::uint64_t>(std::lround(std::clamp(rate, 1.0, kMostRate)));
    }
    return std::uint64_t{0};
}

}  // namespace wye::sdk
