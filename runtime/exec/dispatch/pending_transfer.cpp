// SPDX-License-Identifier: Apache-2.0
//
// The part of PendingRequest for asynchronous transfers of buffers.
#include <fmt/format.h>

#include "exec/dispatch/pending_request.hpp"
#include "exec/dispatch/staged_arguments.hpp"

namespace wye::exec {
namespace {

bool hosts(const CheckedTransfer& checked) {
    return checked.kind() == WYE_OPERATION_UPLOAD || checked.kind() == WYE_OPERATION_DOWNLOAD;
}

}  // namespace

PendingRequest::PendingRequest(const Context& context, const CheckedTransfer& checked,
                               std::uint32_t flags, Clock::time_point start)
    : Pending(context, checked.session(), (flags & WYE_DISPATCH_BORROW) != 0,
              (flags & WYE_DISPATCH_TIMED) != 0),
      name_(checked.buffer.label()),
      begun_(start),
      transfer_(checked.kind()),
      transferred_(checked.size) {
    report_ = {};
    report_.device = checked.object().device;
    report_transfer(transfer_, transferred_, report_);
}

std::string PendingRequest::what() const {
    if (transfer_ == 0) return Pending::what();
    return fmt::format("{} of buffer `{}`", transfer_name(transfer_), name_);
}

Result<WorkPtr<Pending>> Pending::submit(const Context& context, const CheckedTransfer& checked,
                                         std::uint32_t flags, Clock::time_point start) {
    DeviceSession& session = checked.session();
    const Span span(session.trace(), "submit transfer", {.bytes = checked.size}, start);
    WYE_TRY(session.ready());
    const bool owns = hosts(checked) && (flags & WYE_DISPATCH_BORROW) == 0;
    WYE_ASSIGN(PendingRoom room, session.pending().room(owns ? checked.size : 0,
                                                        (flags & WYE_DISPATCH_AT_ONCE) != 0));
    if (session.has_line()) [[unlikely]] {
        WYE_ASSIGN(auto later, submit_behind(context, checked, flags, start, room));
        if (later) return later;
    }
    WorkPtr<PendingRequest> out(
        session.recycler().make<PendingRequest>(context, checked, flags, start));
    WYE_TRY(out->start(context.handles(), checked, flags));
    if (!out->has_ended()) room.take(out);
    return WorkPtr<Pending>(std::move(out));
}

Result<void> PendingRequest::start(const registry::HandleTable& handles,
                                   const CheckedTransfer& checked, std::uint32_t flags) {
    const Clock::time_point enqueue = now();
    const sdk::Lock lock(mutex_);
    wye_operation operation;
    std::vector<wye_operation> copies;
    WYE_ASSIGN(const auto work, prepare_transfer(handles, checked, operation, copies));
    if (work.empty()) {
        end({});
        return {};
    }
    const auto options = SubmitOptions(timed_, checked.queue.number())
                             .waiting((flags & WYE_DISPATCH_AT_ONCE) != 0, {})
                             .in_place();
    WYE_ASSIGN(ticket_, session_.submit(work, std::span(checked.uses).first(checked.count), options,
                                        enqueue, times_));
    return {};
}

Result<std::span<const wye_operation>> PendingRequest::prepare_transfer(
    const registry::HandleTable& handles, const CheckedTransfer& checked, wye_operation& operation,
    std::vector<wye_operation>& copies) {
    operation = checked.operation;
    std::span<const wye_operation> work(&operation, 1);
    const wye_transfer_op& op = operation.u.transfer;
    if (hosts(checked) && borrows_) {
        registered_.add(session_, transfer_ == WYE_OPERATION_UPLOAD ? op.source : op.target,
                        checked.size);
        registered_.begin(handles);
    }
    if (!registered_.empty()) {
        registered_.append(operation, copies);
        WYE_TRY(registered_.written());
        work = copies;
    } else if (hosts(checked)) {
        WYE_TRY(take_memory(operation));
    }
    if (checked.size == 0) return std::span<const wye_operation>();
    WYE_ASSIGN(uses_, handles.begin_use(std::span(checked.handles).first(checked.count)));
    return work;
}

// Copies the bytes of an upload to memory of the request, or allocates memory for a download.
Result<void> PendingRequest::take_memory(wye_operation& operation) {
    const auto size = static_cast<std::size_t>(transferred_);
    wye_transfer_op& op = operation.u.transfer;
    if (transfer_ == WYE_OPERATION_UPLOAD) {
        if (session_.stages(size)) staged_inputs_ = session_.stage(size);
        if (!staged_inputs_ && (borrows_ || size == 0)) return {};
        if (!staged_inputs_) inputs_ = session_.host_memory().take(size);
        std::byte* const to = staged_inputs_ ? staged_inputs_.data() : inputs_.data();
        session_.copiers().copy(to, static_cast<const std::byte*>(op.source), size);
        op.source = to;
        if (!staged_inputs_) return {};
        WYE_TRY(staged_inputs_.written(0, size));
        copy_staged(operation, staged_inputs_);
        return {};
    }
    if (session_.stages(size)) staged_outputs_ = session_.stage(size);
    if (!borrows_) list_.push_back({0, 0, size});
    if (!staged_outputs_ && (borrows_ || size == 0)) return {};
    if (!staged_outputs_) outputs_ = session_.host_memory().take(size);
    output_bytes_ = size;
    std::byte* const from = staged_outputs_ ? staged_outputs_.data() : outputs_.data();
    if (borrows_) lent_.push_back({static_cast<std::byte*>(op.target), from, size});
    op.target = from;
    if (staged_outputs_) copy_staged(operation, staged_outputs_);
    return {};
}

}  // namespace wye::exec
