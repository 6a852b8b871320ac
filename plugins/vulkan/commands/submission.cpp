// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/submission.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vulkan/command.hpp"
#include "vulkan/commands/fill.hpp"
#include "vulkan/program.hpp"

namespace wye::vulkan {
namespace {

// Transfers are split into pieces of this size, so that the host copies one piece while the device
// moves another.
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20U;

bool upload_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_UPLOAD && buffer_of(op.u.transfer.buffer).mapped != nullptr;
}

bool download_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_DOWNLOAD && buffer_of(op.u.transfer.buffer).host_reads_fast;
}

// An upload of this size or more is worth a submit of its own, which costs some 10 us (H100): the
// time in which the bus moves 500 KiB.
constexpr std::uint64_t kLeastDivided = std::uint64_t{2} << 20U;

// If work may wait for the application, the device copies downloads below this size. The staging
// ring has room for 64 downloads of this size.
constexpr std::uint64_t kMostStaged = std::uint64_t{256} << 10U;

bool only_moves(const wye_operation& op) {
    return op.kind == WYE_OPERATION_COPY || op.kind == WYE_OPERATION_FILL ||
           op.kind == WYE_OPERATION_UPLOAD || op.kind == WYE_OPERATION_DOWNLOAD;
}

// Whether a submit with this operation may be kept. A submit with copies is not kept, since the
// host often waits for copies.
bool may_be_kept(const wye_operation& op) {
    if (op.kind == WYE_OPERATION_EXECUTE)
        return sdk::command_of<Command>(op.u.execute.command).is_light();
    return op.kind == WYE_OPERATION_DISPATCH || op.kind == WYE_OPERATION_FILL;
}

bool is_large_upload(const wye_copy_op& op) {
    return op.size >= kLeastDivided && buffer_of(op.source).mapped != nullptr;
}

bool is_large_upload(const wye_operation& op) {
    return (op.kind == WYE_OPERATION_COPY && is_large_upload(op.u.copy)) ||
           (op.kind == WYE_OPERATION_UPLOAD && op.u.transfer.size >= kLeastDivided);
}

}  // namespace

void Submission::begin(bool timed) {
    first_ = segments_.newest() + 1;
    timed_ = timed && device_.info.family.timestamp_bits != 0;
    repeatable_ = false;
    lane_ = Lane::Compute;
    divided_ = false;
}

// If the wait fails, the device is lost: the reads are dropped, and this submit fails as well.
void Submission::finish_reads(const Buffer& target) {
    if (const std::uint64_t number = segments_.newest_read(target.serial))
        (void)segments_.wait(number);
}

void Submission::finish_reads(const wye_operation& operation) {
    constexpr std::uint32_t kWrites = 2;
    switch (operation.kind) {
        case WYE_OPERATION_UPLOAD:
            return finish_reads(buffer_of(operation.u.transfer.buffer));
        case WYE_OPERATION_COPY:
            return finish_reads(buffer_of(operation.u.copy.target));
        case WYE_OPERATION_FILL:
            return finish_reads(buffer_of(operation.u.fill.target));
        case WYE_OPERATION_DISPATCH: {
            const wye_dispatch_op& op = operation.u.dispatch;
            const Program& program = program_of(op.program);
            for (std::uint32_t b = 0; b < program.binding_count(); ++b)
                if ((program.access(b) & kWrites) != 0)
                    finish_reads(buffer_of(op.bindings[b].buffer));
            if (program.has_trap()) finish_reads(buffer_of(op.trap.buffer));
            return;
        }
        case WYE_OPERATION_EXECUTE:  // may write any buffer
            (void)segments_.wait(segments_.reads_until());
            return;
        default:
            return;
    }
}

void Submission::finish_reads(std::span<const wye_operation> operations) {
    for (const wye_operation& operation : operations) {
        if (!segments_.reads_pending()) return;
        finish_reads(operation);
    }
}

Result<void> Submission::wait_for(const SegmentWait& event) {
    if (event.of == &segments_) return {};
    if (event.of->reads_pending()) {
        const std::uint64_t reads = event.of->reads_until();
        if (reads >= event.number) return event.of->wait(event.number);
        WYE_TRY(event.of->wait(reads));
    }
    waits_.push_back(event.of->signal_of(event.number));
    return {};
}

// Leaves leading uploads and trailing downloads to the host, where the host can copy directly. If
// the operations between them, up to the first command, equal those of an earlier submit, reuses
// that submit's command buffer.
std::span<const wye_operation> Submission::plan(std::span<const wye_operation> operations) {
    finish_reads(operations);
    light_ = !timed_ && waits_.empty() && segments_.may_keep() &&
             std::ranges::all_of(operations, may_be_kept);
    std::span<const wye_operation> rest = operations;
    if (segments_.idle() && waits_.empty())
        for (; !rest.empty() && upload_by_host(rest.front()); rest = rest.subspan(1)) {
            const wye_transfer_op& op = rest.front().u.transfer;
            before_.push_back({buffer_of(op.buffer).mapped + op.offset, op.source, op.size});
        }
    std::size_t commands = rest.size();
    // A later submit that writes the buffer waits until the host has read it. If work may wait for
    // the application, that wait might never end, so the device copies small downloads.
    const std::uint64_t staged = device_.follows_application.load() ? kMostStaged : 0;
    while (commands > 0 && download_by_host(rest[commands - 1]) &&
           rest[commands - 1].u.transfer.size >= staged)
        --commands;
    for (const wye_operation& down : rest.subspan(commands)) {
        const wye_transfer_op& op = down.u.transfer;
        after_.push_back({op.target, buffer_of(op.buffer).mapped + op.offset, op.size});
        reads_.push_back(buffer_of(op.buffer).serial);
    }
    rest = rest.first(commands);
    choose_lane(rest);
    if (divided_) return rest;
    std::size_t first = 0;  // number of operations before the first execution of a command
    while (first < rest.size() && rest[first].kind != WYE_OPERATION_EXECUTE) ++first;
    if (first == 0 || !describe(rest.first(first), recipe_)) return rest;
    std::unique_ptr<Recording> earlier = segments_.recordings(lane_).take_repeating(recipe_);
    repeatable_ = earlier == nullptr;
    if (repeatable_) return rest;
    segment().commands.push_back(earlier->commands());
    segment().recordings.push_back(std::move(earlier));
    return rest.subspan(first);
}

void Submission::choose_lane(std::span<const wye_operation> operations) {
    if (!segments_.has_transfers() || light_) return;
    if (operations.empty()) {  // only waits: on the transfer lane, they hold up no kernels
        if (segments_.for_transfers()) lane_ = Lane::Transfers;
        return;
    }
    if (timed_ && !device_.info.times_transfers()) return;
    const bool all = std::ranges::all_of(operations, only_moves);
    if (!all && !is_large_upload(operations.front())) return;
    const bool waits = !waits_.empty() || !segments_.is_free();
    if (waits && !(all && segments_.for_transfers())) return;
    lane_ = Lane::Transfers;
    divided_ = !all;
}

Result<void> Submission::compute() {
    if (!divided_ || lane_ == Lane::Compute) return {};
    if (segment_ && !segment_->commands.empty()) WYE_TRY(send());
    lane_ = Lane::Compute;
    return {};
}

Result<void> Submission::dispatch(const Program& program, const wye_dispatch_op& op) {
    WYE_TRY(compute());
    DispatchMemory memory;
    if (program.block_in_buffer()) {
        const VkPhysicalDeviceLimits& limits = device_.info.properties.core.limits;
        WYE_ASSIGN(memory.block,
                   stage(program.block_bytes(), limits.minStorageBufferOffsetAlignment));
    }
    WYE_ASSIGN(Recording * now, recording());
    return now->dispatch(program, op, memory);
}

Result<void> Submission::copy(const Buffer& source, const Buffer& target, const wye_copy_op& op) {
    if (!is_large_upload(op)) WYE_TRY(compute());
    WYE_ASSIGN(Recording * now, recording());
    now->copy(source, target, op);
    return {};
}

Result<void> Submission::fill(const Buffer& target, const wye_fill_op& op) {
    WYE_TRY(compute());
    StagedRange staged;
    if (const std::uint64_t bytes = parts_of(op).staged_bytes) {
        WYE_ASSIGN(staged, stage(bytes, kPatternAlignment));
    }
    WYE_ASSIGN(Recording * now, recording());
    now->fill(target, op, staged);
    return {};
}

Result<void> Submission::upload(const Buffer& target, const wye_transfer_op& op) {
    if (op.size < kLeastDivided) WYE_TRY(compute());
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
    WYE_TRY(compute());
    auto* target = static_cast<std::byte*>(op.target);
    for (std::uint64_t at = 0; at < op.size; at += kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        WYE_ASSIGN(Recording * now, recording());
        now->copy_out(source, op.offset + at, size, staged);
        segment().copies.push_back({target + at, staged.bytes(), size});
    }
    return {};
}

inline void Submission::add(Command& command) {
    segment().commands.push_back(command.commands());
    command.last_use.set(segments_.progress(), segments_.newest() + 1);
}

// Waits for an earlier execution only if this execution changes the command buffer.
Result<void> Submission::execute(Command& command, const wye_execute_op& op) {
    WYE_TRY(compute());
    if (!command.is_recorded(op)) {
        if (command.last_use.is(segments_.progress(), segments_.newest() + 1)) WYE_TRY(send());
        WYE_TRY(command.record(op));
    }
    WYE_TRY(end_recording());
    add(command);
    return {};
}

bool Submission::replay(Command& command, const wye_execute_op& op, Submit& out) {
    first_ = segments_.newest() + 1;
    lane_ = Lane::Compute;
    if (segments_.reads_pending() || !command.is_recorded(op)) return false;
    command.last_use.set(segments_.progress(), first_);
    if (!segments_.send_alone(command.commands())) return false;
    out = {first_, first_};
    return true;
}

bool Submission::replay_behind(Command& command, const wye_execute_op& op, Submit& out) {
    if (!segments_.may_keep() || !command.is_light())
        return segments_.keeps_none() && replay(command, op, out);
    first_ = segments_.newest() + 1;
    lane_ = Lane::Compute;
    if (segments_.reads_pending() || !command.is_recorded(op)) return false;
    command.last_use.set(segments_.progress(), first_);
    const VkCommandBuffer commands = command.commands();
    if (!segments_.keep({&commands, 1}, nullptr)) return false;
    out = {first_, first_};
    return true;
}

// If work is still pending, the host's direct reads become part of a segment, and are made when
// that segment has ended.
Result<Submit> Submission::end() {
    const bool reads = !after_.empty();
    const bool commands = segment_ && !segment_->commands.empty();
    if (commands && is_light()) {
        WYE_TRY(end_recording());
        if (segments_.keep(segment_->commands, &segment_)) return Submit{first_, first_};
    }
    if (commands || !waits_.empty() || (reads && !segments_.idle())) {
        std::vector<sdk::HostCopy>& copies = segment().copies;
        copies.insert(copies.end(), after_.begin(), after_.end());
        after_.clear();
        WYE_TRY(send());
        if (reads) segments_.expect_reads(reads_);
    }
    sdk::run(before_);
    sdk::run(after_);
    reads_.clear();
    return Submit{first_, segments_.newest()};
}

void Submission::abandon() noexcept {
    recording_ = nullptr;
    if (segment_) segments_.empty(*segment_);
    segments_.staging.drop();
    segments_.drop_copies(first_);
    waits_.clear();
    before_.clear();
    after_.clear();
    reads_.clear();
}

Result<Recording*> Submission::recording() {
    if (recording_ != nullptr) return recording_;
    WYE_ASSIGN(std::unique_ptr<Recording> made, segments_.recordings(lane_).take());
    Recording* const now = made.get();
    segment().recordings.push_back(std::move(made));
    WYE_TRY(now->begin());
    segment().commands.push_back(now->commands());
    return recording_ = now;
}

Result<void> Submission::end_recording() {
    const bool repeatable = std::exchange(repeatable_, false);
    if (recording_ == nullptr) return {};
    if (repeatable) recording_->remember(recipe_);
    return std::exchange(recording_, nullptr)->end();
}

Result<StagedRange> Submission::stage(std::uint64_t size, std::uint64_t alignment) {
    for (;;) {
        WYE_ASSIGN(const auto range, segments_.staging.take(size, alignment));
        if (range) {
            segment().staged = true;
            return *range;
        }
        if (!segment().commands.empty()) WYE_TRY(send());
        if (const auto oldest = segments_.staging.oldest()) WYE_TRY(segments_.wait(*oldest));
    }
}

Result<void> Submission::send() {
    WYE_TRY(end_recording());
    sdk::run(before_);
    Segment& now = segment();
    if (timed_ && !now.commands.empty()) {
        WYE_ASSIGN(now.stamps, segments_.recordings(now.lane).take_stamps());
        now.stamps->reset();
        now.commands.insert(now.commands.begin(), now.stamps->before());
        now.commands.push_back(now.stamps->after());
    }
    WYE_TRY(segments_.send(waits_, segment_));
    waits_.clear();
    return {};
}

}  // namespace wye::vulkan
