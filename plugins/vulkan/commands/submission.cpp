// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/submission.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/commands/fill.hpp"

namespace wye::vulkan {
namespace {

// Transfers are split into pieces of this size, so that the host copies one while the device moves
// another.
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20U;

bool upload_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_UPLOAD && buffer_of(op.u.transfer.buffer).mapped != nullptr;
}

bool download_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_DOWNLOAD && buffer_of(op.u.transfer.buffer).host_reads_fast;
}

}  // namespace

Result<void> Submission::begin(bool timed) {
    first_ = segments_.newest() + 1;
    timed_ = timed && device_.info.family.timestamp_bits != 0;
    repeatable_ = false;
    if (!segments_.reads_pending()) return {};
    return segments_.wait(segments_.newest());
}

Result<void> Submission::wait_for(const SegmentWait& event) {
    if (event.of->reads_pending()) return event.of->wait(event.number);
    waits_.push_back(event);
    return {};
}

// Leaves leading uploads and trailing downloads to the host where it can copy directly. If the
// operations between them equal those of an earlier submit, its command buffer is reused.
std::span<const wye_operation> Submission::plan(std::span<const wye_operation> operations) {
    std::span<const wye_operation> rest = operations;
    if (segments_.idle() && waits_.empty())
        for (; !rest.empty() && upload_by_host(rest.front()); rest = rest.subspan(1)) {
            const wye_transfer_op& op = rest.front().u.transfer;
            before_.push_back({buffer_of(op.buffer).mapped + op.offset, op.source, op.size});
        }
    std::size_t commands = rest.size();
    while (commands > 0 && download_by_host(rest[commands - 1])) --commands;
    for (const wye_operation& down : rest.subspan(commands)) {
        const wye_transfer_op& op = down.u.transfer;
        after_.push_back({op.target, buffer_of(op.buffer).mapped + op.offset, op.size});
    }
    rest = rest.first(commands);
    if (!describe(rest, recipe_)) return rest;
    recording_ = segments_.recordings.take_repeating(recipe_, timed_);
    repeatable_ = recording_ == nullptr;
    return repeatable_ ? rest : std::span<const wye_operation>();
}

Result<void> Submission::dispatch(const Program& program, const wye_dispatch_op& op) {
    StagedRange block;
    if (program.block_in_buffer()) {
        const VkPhysicalDeviceLimits& limits = device_.info.properties.core.limits;
        WYE_ASSIGN(block, stage(program.block_bytes(), limits.minStorageBufferOffsetAlignment));
    }
    WYE_ASSIGN(Recording * now, recording());
    return now->dispatch(program, op, block);
}

Result<void> Submission::copy(const Buffer& source, const Buffer& target, const wye_copy_op& op) {
    WYE_ASSIGN(Recording * now, recording());
    now->copy(source, target, op);
    return {};
}

// Whole words are filled by one command; the rest is copied from staged bytes.
Result<void> Submission::fill(const Buffer& target, const wye_fill_op& op) {
    const FillParts parts = parts_of(op);
    if (parts.staged_bytes != 0) {
        WYE_ASSIGN(const StagedRange staged, stage(parts.staged_bytes, 8));
        write_pattern(staged.bytes(), parts.staged_bytes, op);
        WYE_ASSIGN(Recording * now, recording());
        now->copy_in(staged, target, staged_copies(op, parts, staged.offset));
    }
    if (parts.words == 0) return {};
    WYE_ASSIGN(Recording * now, recording());
    now->fill(target, parts.first, parts.words * 4, parts.word);
    return {};
}

Result<void> Submission::upload(const Buffer& target, const wye_transfer_op& op) {
    const auto* source = static_cast<const std::byte*>(op.source);
    for (std::uint64_t at = 0; at < op.size; at += kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        std::memcpy(staged.bytes(), source + at, size);
        WYE_ASSIGN(Recording * now, recording());
        now->copy_in(staged, target, {{staged.offset, op.offset + at, size}});
    }
    return {};
}

Result<void> Submission::download(const Buffer& source, const wye_transfer_op& op) {
    auto* target = static_cast<std::byte*>(op.target);
    for (std::uint64_t at = 0; at < op.size; at += kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        WYE_ASSIGN(Recording * now, recording());
        now->copy_out(source, op.offset + at, size, staged);
        staged_reads_.push_back({target + at, staged.bytes(), size});
    }
    return {};
}

// Direct reads by the host must follow a segment, unless all work has ended.
Result<Submit> Submission::end() {
    if (repeatable_ && recording_) recording_->remember(recipe_);
    const bool reads = !after_.empty();
    if (recording_ || !waits_.empty() || (reads && !segments_.idle())) {
        staged_reads_.insert(staged_reads_.end(), after_.begin(), after_.end());
        after_.clear();
        WYE_TRY(send());
        if (reads) segments_.expect_reads();
    }
    sdk::run(before_);
    sdk::run(after_);
    return Submit{first_, segments_.newest()};
}

void Submission::abandon() {
    if (recording_) segments_.recordings.give_back(std::move(recording_));
    segments_.staging.drop();
    segments_.drop_copies(first_);
    waits_.clear();
    before_.clear();
    staged_reads_.clear();
    after_.clear();
}

Result<Recording*> Submission::recording() {
    if (!recording_) {
        WYE_ASSIGN(recording_, segments_.recordings.take(timed_));
        WYE_TRY(recording_->begin());
    }
    return recording_.get();
}

Result<StagedRange> Submission::stage(std::uint64_t size, std::uint64_t alignment) {
    for (;;) {
        WYE_ASSIGN(const auto range, segments_.staging.take(size, alignment));
        if (range) return *range;
        if (recording_) WYE_TRY(send());
        if (const auto oldest = segments_.staging.oldest()) WYE_TRY(segments_.wait(*oldest));
    }
}

Result<void> Submission::send() {
    if (recording_ && !recording_->ended()) WYE_TRY(recording_->end());
    sdk::run(before_);
    WYE_TRY(segments_.send(waits_, recording_, staged_reads_));
    waits_.clear();
    return {};
}

}  // namespace wye::vulkan
