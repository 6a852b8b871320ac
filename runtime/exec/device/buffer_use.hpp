// SPDX-License-Identifier: Apache-2.0
//
// BufferHistory: for each queue of a session, the newest submits that read and wrote a buffer.
// Guarded by the lock of the session's queues.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace wye::exec {

// The native queues of a session: first those that work without a public queue is spread over, then
// one for each public queue.
inline constexpr std::uint32_t kMostQueues = 4;
inline constexpr std::uint32_t kMostPublicQueues = 8;
inline constexpr std::uint32_t kAllQueues = kMostQueues + kMostPublicQueues;

struct BufferHistory {
    // The values of submits, by queue; 0: none that a new submit must come after. A submit that
    // writes the buffer and runs after the submits recorded here sets their values to 0.
    std::array<std::uint64_t, kMostQueues> reads{};
    std::array<std::uint64_t, kMostQueues> writes{};
    // The same for the queues from kMostQueues on.
    std::array<std::uint64_t, kMostPublicQueues> public_reads{}, public_writes{};

    // The newest write, or read, of the queue with this index.
    [[nodiscard]] std::uint64_t& newest(std::uint32_t queue, bool write) {
        if (queue < kMostQueues) return (write ? writes : reads)[queue];
        return (write ? public_writes : public_reads)[queue - kMostQueues];
    }
    [[nodiscard]] std::uint64_t newest(std::uint32_t queue) const {
        return queue < kMostQueues ? std::max(writes[queue], reads[queue])
                                   : std::max(public_writes[queue - kMostQueues],
                                              public_reads[queue - kMostQueues]);
    }
};

// A use of a buffer by a submit. Borrows the history of a live buffer.
struct BufferUse {
    BufferHistory* history = nullptr;
    bool writes = false;
};

}  // namespace wye::exec
