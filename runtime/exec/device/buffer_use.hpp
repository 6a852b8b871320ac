// SPDX-License-Identifier: Apache-2.0
//
// BufferHistory: for each queue of a session, the newest submits that read and wrote a buffer.
// Guarded by the lock of the session's queues.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace wye::exec {

// The number of queues of a session. Indices below kMostQueues are queues for work without a public
// queue. Each of the other queues belongs to at most one public queue.
inline constexpr std::uint32_t kMostQueues = 4;
inline constexpr std::uint32_t kMostPublicQueues = 8;
inline constexpr std::uint32_t kAllQueues = kMostQueues + kMostPublicQueues;

struct BufferHistory {
    // The values of the newest submits, indexed by queue. 0: a new submit need not come after any
    // submit of this queue. A submit that writes the buffer sets to 0 the values of the submits
    // that it waits for, since later submits need only come after the write.
    std::array<std::uint64_t, kMostQueues> reads{};
    std::array<std::uint64_t, kMostQueues> writes{};
    // The same for the queues whose index is kMostQueues or more.
    std::array<std::uint64_t, kMostPublicQueues> public_reads{}, public_writes{};

    // The value of the newest submit of queue `queue` that writes the buffer, or that reads it if
    // `write` is false.
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
