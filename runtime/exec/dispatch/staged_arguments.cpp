// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/staged_arguments.hpp"

#include <algorithm>
#include <exception>

#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// Arguments of this size or more move in chunks; for smaller arguments the additional submits cost
// more than they save.
constexpr std::uint64_t kLeastChunked = std::uint64_t{2} << 20U;
constexpr std::uint64_t kStagedAlignment = 64;  // alignment of each argument in a block

std::uint64_t staged_bytes(std::uint64_t size) {
    return (size + kStagedAlignment - 1) / kStagedAlignment * kStagedAlignment;
}

// Whether an operation still moves host bytes: transfers of registered memory have already become
// copies.
bool is_transfer(const wye_operation& operation) {
    return operation.kind == WYE_OPERATION_UPLOAD || operation.kind == WYE_OPERATION_DOWNLOAD;
}

}  // namespace

void copy_staged(wye_operation& operation, const StagingBlock& block) {
    if (!is_transfer(operation)) return;
    const bool up = operation.kind == WYE_OPERATION_UPLOAD;
    const wye_transfer_op op = operation.u.transfer;
    const auto* host = static_cast<const std::byte*>(up ? op.source : op.target);
    const auto at = static_cast<std::uint64_t>(host - block.data());
    operation = sdk::new_operation(WYE_OPERATION_COPY);
    wye_copy_op& copy = operation.u.copy;
    copy.source = up ? block.object() : op.buffer;
    copy.target = up ? op.buffer : block.object();
    copy.source_offset = up ? at : op.offset;
    copy.target_offset = up ? op.offset : at;
    copy.size = op.size;
}

void StagedArguments::take(Operations& operations, Workspace& workspace) {
    if (!flow_.session().stages(flow_.bound.bytes_uploaded) &&
        !flow_.session().stages(flow_.bound.bytes_downloaded))
        return;
    std::vector<wye_operation>& list = workspace.operations;
    std::vector<bool> taken(list.size());
    take_large(operations, 0, operations.launch, up_, taken);
    take_large(operations, operations.read_back, list.size(), down_, taken);
    std::size_t kept = 0, launch = 0, read_back = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (taken[i]) continue;
        launch += i < operations.launch ? 1 : 0;
        read_back += i < operations.read_back ? 1 : 0;
        list[kept++] = list[i];
    }
    list.resize(kept);
    operations.all = list;
    operations.launch = launch;
    operations.read_back = read_back;
    take_middle(operations, list);
    if (up_ || down_) flow_.uses.push_back({&flow_.chunks, true});
}

void StagedArguments::take_large(const Operations& operations, std::size_t first, std::size_t end,
                                 std::optional<ChunkedTransfer>& out, std::vector<bool>& taken) {
    using Direction = ChunkedTransfer::Direction;
    const bool up = end == operations.launch;
    // Transfers of resident buffers are not taken: chunks are separate submits, and other work may
    // change a resident buffer between the chunks and the dispatch.
    const auto is_resident = [&](const wye_buffer_object* buffer) {
        return std::ranges::any_of(flow_.launch.bound(), [&](const plan::BoundBuffer& bound) {
            return bound.kind == plan::ArgumentKind::Resident &&
                   flow_.residents.object(bound.argument) == buffer;
        });
    };
    for (std::size_t i = first; i < end; ++i) {
        const wye_transfer_op& op = operations.all[i].u.transfer;
        if (!is_transfer(operations.all[i]) || op.size < kLeastChunked || is_resident(op.buffer))
            continue;
        if (!out)
            out.emplace(flow_.session(), up ? Direction::Up : Direction::Down, flow_.options(),
                        flow_.times);
        void* host = up ? const_cast<void*>(op.source) : op.target;
        out->add({op.buffer, op.offset, static_cast<std::byte*>(host), op.size});
        taken[i] = true;
    }
    if (!out || out->reserve()) return;
    out.reset();
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(first),
              taken.begin() + static_cast<std::ptrdiff_t>(end), false);
}

void StagedArguments::take_middle(const Operations& operations, std::vector<wye_operation>& list) {
    DeviceSession& session = flow_.session();
    const auto is_middle = [&](const wye_operation& op) {
        return is_transfer(op) && op.u.transfer.size < kLeastChunked &&
               session.stages(op.u.transfer.size);
    };
    std::uint64_t in = 0, out = 0;
    for (const wye_operation& op : operations.uploads())
        if (is_middle(op)) in += staged_bytes(op.u.transfer.size);
    for (const wye_operation& op : operations.read_backs())
        if (is_middle(op)) out += staged_bytes(op.u.transfer.size);
    if (in != 0) in_ = session.stage(in);
    if (out != 0) out_ = session.stage(out);
    in = out = 0;
    for (std::size_t i = 0; in_ && i < operations.launch; ++i) {
        if (!is_middle(list[i])) continue;
        wye_transfer_op& op = list[i].u.transfer;
        inputs_.push_back({in_.data() + in, op.source, op.size});
        op.source = in_.data() + in;
        in += staged_bytes(op.size);
        copy_staged(list[i], in_);
    }
    for (std::size_t i = operations.read_back; out_ && i < list.size(); ++i) {
        if (!is_middle(list[i])) continue;
        wye_transfer_op& op = list[i].u.transfer;
        outputs_.push_back({op.target, out_.data() + out, op.size});
        op.target = out_.data() + out;
        out += staged_bytes(op.size);
        copy_staged(list[i], out_);
    }
}

Result<void> StagedArguments::upload() {
    if (inputs_.empty() && !up_) return {};
    const Span span(flow_.session().trace(), "copy inputs", {.bytes = flow_.bound.bytes_uploaded});
    for (const sdk::HostCopy& copy : inputs_) {
        flow_.session().copiers().copy(copy.target, copy.source, copy.size);
        const auto* staged = static_cast<const std::byte*>(copy.target);
        WYE_TRY(in_.written(static_cast<std::uint64_t>(staged - in_.data()), copy.size));
    }
    const BufferUse order{&flow_.chunks, true};
    return up_ ? up_->start({&order, 1}) : Result<void>();
}

void StagedArguments::start_download() noexcept {
    if (!down_) return;
    try {
        started_ = down_->start(flow_.uses);
    } catch (const std::exception&) {  // no memory: `download` tries again
    }
}

Result<void> StagedArguments::download() {
    if (outputs_.empty() && !down_) return {};
    const Span span(flow_.session().trace(), "copy outputs",
                    {.bytes = flow_.bound.bytes_downloaded});
    for (const sdk::HostCopy& copy : outputs_) {
        const auto* staged = static_cast<const std::byte*>(copy.source);
        WYE_TRY(out_.arrived(static_cast<std::uint64_t>(staged - out_.data()), copy.size));
        flow_.session().copiers().copy(copy.target, copy.source, copy.size);
    }
    if (!down_) return {};
    WYE_TRY(std::move(started_));
    WYE_TRY(down_->start(flow_.uses));
    return down_->finish();
}

}  // namespace wye::exec
