// SPDX-License-Identifier: Apache-2.0
//
// Runs a long stream of asynchronous dispatches, to see whether memory grows.
#pragma once

#include "wye_ways.hpp"

namespace wye::bench {

struct Stream {
    std::uint64_t dispatches = 0;
    double nanoseconds = 0;  // of one dispatch
    // Before and after the stream: resident bytes of the process, and the device's counters.
    std::uint64_t resident_bytes[2] = {};
    std::uint64_t buffers_made[2] = {};
    std::uint64_t buffer_bytes[2] = {};

    [[nodiscard]] double growth() const {
        return static_cast<double>(resident_bytes[1]) - static_cast<double>(resident_bytes[0]) +
               static_cast<double>(buffer_bytes[1]) - static_cast<double>(buffer_bytes[0]);
    }
};

// At most `sizes.in_flight` dispatches are pending at once. `sizes.warm` dispatches run first, so
// that caches and lists have reached their full size.
[[nodiscard]] Result<Stream> run_stream(const Target& target, const Sizes& sizes);

}  // namespace wye::bench
