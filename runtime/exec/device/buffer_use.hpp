// SPDX-License-Identifier: Apache-2.0
//
// BufferHistory: the newest submits that read and wrote a buffer, by queue of its session. Guarded
// by the lock of the session's queues.
#pragma once

#include <array>
#include <cstdint>

namespace wye::exec {

// Native queues of a session: those that work without a queue of its own is spread over, then one
// for each public queue.
inline constexpr std::uint32_t kMostQueues = 4;
inline constexpr std::uint32_t kMostPublicQueues = 8;
inline constexpr std::uint32_t kAllQueues = kMostQueues + kMostPublicQueues;

struct BufferHistory {
    std::array<std::uint64_t, kMostQueues> reads{};   // values; 0: none
    std::array<std::uint64_t, kMostQueues> writes{};  // of the newest write, on its queue only
    // The same for the queues from kMostQueues on.
    std::array<std::uint64_t, kMostPublicQueues> public_reads{}, public_writes{};
};

// A use of a buffer by a submit. Borrows the history of a live buffer.
struct BufferUse {
    BufferHistory* history = nullptr;
    bool writes = false;
};

}  // namespace wye::exec
