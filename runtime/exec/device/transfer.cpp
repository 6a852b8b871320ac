// SPDX-License-Identifier: Apache-2.0
#include "exec/device/transfer.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "exec/device/session.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// The chunk size for a transfer of `total` bytes. Small transfers are split too, so that host
// copies and device copies overlap.
std::uint64_t chunk_bytes(std::uint64_t total) {
    constexpr std::uint64_t kUnit = std::uint64_t{64} << 10U;
    constexpr std::uint64_t kSmallest = std::uint64_t{512} << 10U;
    return std::clamp((total / 4 + kUnit - 1) / kUnit * kUnit, kSmallest, ChunkedTransfer::kChunk);
}

}  // namespace

ChunkedTransfer::~ChunkedTransfer() {
    for (Slot& slot : slots_) {
        end_copy(slot);
        while (slot.ticket.queue) {
            try {
                (void)wait(slot);
            } catch (const std::exception&) {  // no memory for an error's text
                if (slot.ticket.queue->has_ended(slot.ticket.value)) slot.ticket = {};
                std::this_thread::yield();
            }
        }
    }
}

bool ChunkedTransfer::reserve() {
    std::uint64_t total = 0;
    for (const HostRange& range : ranges_) total += range.size;
    const std::uint64_t size = chunk_bytes(total);
    for (const HostRange& range : ranges_)
        for (std::uint64_t at = 0; at < range.size; at += size)
            chunks_.push_back({&range, at, std::min(range.size - at, size)});
    const std::size_t wanted = std::min(chunks_.size(), kMostChunks);
    for (; depth_ < wanted; ++depth_) {
        slots_[depth_].block = session_.stage(kChunk);
        if (!slots_[depth_].block) break;
    }
    return depth_ != 0;
}

Result<void> ChunkedTransfer::start(std::span<const BufferUse> uses) {
    if (uses_.empty()) {
        uses_.assign(uses.begin(), uses.end());
        uses_.push_back({&order_, true});
    }
    if (!up_) return fill_slots();
    for (std::size_t n = 0; n < chunks_.size(); ++n) {
        if (n >= depth_) {
            while (submitted_ + depth_ <= n) WYE_TRY(submit(submitted_));
            WYE_TRY(wait(slot(n)));
        }
        begin_copy(n);
        if (n - submitted_ >= kAhead) WYE_TRY(submit(submitted_));
    }
    while (submitted_ < chunks_.size()) WYE_TRY(submit(submitted_));
    return {};
}

Result<void> ChunkedTransfer::finish() {
    if (up_) {
        for (Slot& one : slots_) WYE_TRY(wait(one));
        return {};
    }
    WYE_TRY(fill_slots());
    // The host copies of chunks `copied` to `n` are in progress. When a copy ends, its slot takes a
    // later chunk.
    std::size_t copied = 0;
    const auto copy_one = [&]() -> Result<void> {
        end_copy(slot(copied++));
        return submitted_ < chunks_.size() ? submit(submitted_) : Result<void>();
    };
    for (std::size_t n = 0; n < chunks_.size(); ++n) {
        while (n >= submitted_) WYE_TRY(copy_one());
        WYE_TRY(wait(slot(n)));
        WYE_TRY(slot(n).block.arrived(0, chunks_[n].size));
        begin_copy(n);
        if (n - copied >= kAhead) WYE_TRY(copy_one());
    }
    while (copied < chunks_.size()) WYE_TRY(copy_one());
    return {};
}

Result<void> ChunkedTransfer::fill_slots() {
    while (submitted_ < depth_) WYE_TRY(submit(submitted_));
    return {};
}

void ChunkedTransfer::begin_copy(std::size_t chunk) {
    Slot& with = slot(chunk);
    const Chunk& part = chunks_[chunk];
    std::byte* host = part.range->host + part.at;
    with.job.target = up_ ? with.block.data() : host;
    with.job.source = up_ ? host : with.block.data();
    with.job.size = part.size;
    session_.copiers().start(with.job);
    with.copying = true;
}

void ChunkedTransfer::end_copy(Slot& with) {
    if (std::exchange(with.copying, false)) session_.copiers().wait(with.job);
}

Result<void> ChunkedTransfer::submit(std::size_t chunk) {
    Slot& with = slot(chunk);
    const Chunk& part = chunks_[chunk];
    const Clock::time_point start = now();
    if (up_) {
        end_copy(with);
        WYE_TRY(with.block.written(0, part.size));
    }
    wye_operation operation = sdk::new_operation(WYE_OPERATION_COPY);
    wye_copy_op& copy = operation.u.copy;
    copy.source = up_ ? with.block.object() : part.range->buffer;
    copy.target = up_ ? part.range->buffer : with.block.object();
    (up_ ? copy.target_offset : copy.source_offset) = part.range->offset + part.at;
    copy.size = part.size;
    WYE_ASSIGN(with.ticket, session_.submit({&operation, 1}, uses_, options_, start, times_));
    ++submitted_;
    return {};
}

Result<void> ChunkedTransfer::wait(Slot& with) {
    if (!with.ticket.queue) return {};
    times_.queued = now();
    auto waited = session_.wait_end(with.ticket, options_.timed, times_);
    with.ticket = {};
    return waited;
}

}  // namespace wye::exec
