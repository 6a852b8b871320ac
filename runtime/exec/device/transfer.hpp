// SPDX-License-Identifier: Apache-2.0
//
// ChunkedTransfer: moves bytes between host memory and device buffers in chunks through staging
// memory, so that the copying threads fill or empty one chunk while the device moves others.
// Borrows the session and the host memory, which must outlive it. The destructor waits until the
// device does not use its chunks any more. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/device/buffer_use.hpp"
#include "exec/device/copiers.hpp"
#include "exec/device/queue_pool.hpp"
#include "exec/device/staging.hpp"
#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class DeviceSession;

// A range of a buffer, and the host memory that it is copied from or to.
struct HostRange {
    wye_buffer_object* buffer = nullptr;
    std::uint64_t offset = 0;
    std::byte* host = nullptr;  // only read by an upload
    std::uint64_t size = 0;
};

class ChunkedTransfer {
  public:
    enum class Direction : std::uint8_t { Up, Down };
    static constexpr std::uint64_t kChunk = std::uint64_t{4} << 20U;

    ChunkedTransfer(DeviceSession& session, Direction direction, SubmitOptions options,
                    RunTimes& times)
        : session_(session), times_(times), up_(direction == Direction::Up), options_(options) {}
    ~ChunkedTransfer();
    ChunkedTransfer(const ChunkedTransfer&) = delete;
    ChunkedTransfer& operator=(const ChunkedTransfer&) = delete;

    // Adds a range of at least one byte. Called before `reserve`.
    void add(const HostRange& range) { ranges_.push_back(range); }
    // Takes staging memory. False: there is none, and the transfer must not be started.
    [[nodiscard]] bool reserve();
    [[nodiscard]] bool empty() const { return ranges_.empty(); }

    // Up: returns once the host memory was read and all chunks were submitted. Down: submits the
    // first chunks, unless that was done before. `uses`: the uses of the buffers.
    [[nodiscard]] Result<void> start(std::span<const BufferUse> uses);
    // Up: waits until the device has all chunks. Down: waits until the host memory has all bytes.
    [[nodiscard]] Result<void> finish();

  private:
    static constexpr std::size_t kMostChunks = 8;  // chunks in progress at once
    static constexpr std::size_t kAhead = 2;       // chunks that host threads copy at once

    struct Slot {
        StagingBlock block;
        HostCopyJob job;
        bool copying = false;
        Ticket ticket;  // without a queue if the device does not use the block
    };
    struct Chunk {
        const HostRange* range = nullptr;
        std::uint64_t at = 0, size = 0;  // offset and size in the range
    };
    [[nodiscard]] Slot& slot(std::size_t chunk) { return slots_[chunk % depth_]; }
    void begin_copy(std::size_t chunk);
    void end_copy(Slot& slot);
    [[nodiscard]] Result<void> submit(std::size_t chunk);
    [[nodiscard]] Result<void> fill_slots();
    [[nodiscard]] Result<void> wait(Slot& slot);

    DeviceSession& session_;
    RunTimes& times_;
    const bool up_;
    const SubmitOptions options_;
    std::vector<HostRange> ranges_;
    std::vector<Chunk> chunks_;
    BufferHistory order_;  // written by all chunks, which keeps them in order on one queue
    std::vector<BufferUse> uses_;
    std::array<Slot, kMostChunks> slots_;
    std::size_t depth_ = 0;      // number of slots with a block
    std::size_t submitted_ = 0;  // number of chunks submitted
};

}  // namespace wye::exec
