// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "exec/dispatch/report.hpp"
#include "exec/dispatch/staged_arguments.hpp"
#include "exec/dispatch/submit.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {

PendingRequest::PendingRequest(const Context& context, const Flow& flow, Clock::time_point start)
    : Pending(context, flow.session(), flow.has(WYE_DISPATCH_BORROW), flow.has(WYE_DISPATCH_TIMED)),
      name_(flow.program.name()),
      begun_(start) {
    report_ = {};
    if (context.logs()) texts_ = std::make_unique<const Texts>(flow.desc);
}

Result<void> PendingRequest::take_memory(const registry::HandleTable& handles, Flow& flow) {
    using Kind = BoundOperation::Kind;
    const Span span(session_.trace(), "copy inputs", {.bytes = flow.bound.bytes_uploaded});
    const bool lent_inputs = borrows_ || flow.rules.waits;
    RegisteredTransfers registered;
    if (lent_inputs) find_registered(handles, flow, registered);
    const auto stays = [&](const BoundOperation& one) {
        return !registered.empty() &&
               registered.has(one.kind == Kind::Upload ? one.source : one.target, one.size);
    };
    std::size_t in = 0, out = 0;
    for (const BoundOperation& one : flow.bound.operations) {
        if (stays(one)) continue;
        if (one.kind == Kind::Upload) in += HostMemory::padded(one.size);
        if (one.kind == Kind::ReadBack) out += HostMemory::padded(one.size);
    }
    StagingBlock staged;
    HostBlock inputs;
    if (session_.stages(in)) staged = session_.stage(in);
    if (session_.stages(out)) staged_outputs_ = session_.stage(out);
    if (in != 0 && !staged && !lent_inputs) inputs = session_.host_memory().take(in);
    if (out != 0 && !staged_outputs_ && !borrows_) outputs_ = session_.host_memory().take(out);
    output_bytes_ = out;
    // `to` and `from` are null if the caller lends the memory.
    std::byte* to = staged ? staged.data() : inputs.data();
    std::byte* from = staged_outputs_ ? staged_outputs_.data() : outputs_.data();
    std::vector<sdk::HostCopy> lent;
    for (BoundOperation& one : flow.bound.operations) {
        if (stays(one)) continue;
        if (one.kind == Kind::Upload && to != nullptr) {
            session_.copiers().copy(to, one.source, one.size);
            one.source = to;
            to += HostMemory::padded(one.size);
        } else if (one.kind == Kind::ReadBack && from != nullptr) {
            if (borrows_) lent.push_back({one.target, from, one.size});
            if (flow.rules.copies_out) owned_.push_back({one.target, from, one.size});
            one.target = from;
            from += HostMemory::padded(one.size);
        }
    }
    if (staged) WYE_TRY(staged.written(0, in));
    staged_inputs_ = std::move(staged);
    inputs_ = std::move(inputs);
    lent_ = std::move(lent);
    registered_ = std::move(registered);
    // `list_` also has the outputs of 0 bytes, which need no operation.
    std::size_t offset = 0;
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        if (!bound.returned) continue;
        const std::uint32_t binding = flow.program.ir().buffers[bound.buffer_index].binding;
        list_.push_back({binding, offset, static_cast<std::size_t>(bound.read_size)});
        offset += HostMemory::padded(bound.read_size);
    }
    return {};
}

void PendingRequest::copy_staged_memory() {
    std::vector<wye_operation>& list = workspace_->operations;
    for (std::size_t i = 0; staged_inputs_ && i < operations_.launch; ++i)
        copy_staged(list[i], staged_inputs_);
    for (std::size_t i = operations_.read_back; staged_outputs_ && i < list.size(); ++i)
        copy_staged(list[i], staged_outputs_);
}

Result<void> PendingRequest::start(const registry::HandleTable& handles, Flow& flow) {
    const sdk::Lock lock(mutex_);
    return start_held(handles, flow);
}

Result<void> PendingRequest::start_held(const registry::HandleTable& handles, Flow& flow) {
    const Clock::time_point enqueue = now();
    WYE_TRY(take_memory(handles, flow));
    workspace_ = session_.workspace();
    WYE_ASSIGN(uses_, flow.residents.begin_use(handles));
    WYE_ASSIGN(operations_, write_operations(flow.program.plan(), flow.launch, flow.bound,
                                             flow.kernels, flow.residents, session_, *workspace_));
    flow.residents.uses(flow.launch, flow.uses);
    flow.kernels.keep(programs_);
    copy_registered(operations_, *workspace_, registered_);
    WYE_TRY(registered_.written());
    copy_staged_memory();
    // If a program can trap, a later submit reads its outputs back in two cases: lent outputs must
    // not be written after a trap, and outputs of several iterations are read after the last one.
    reads_later_ = operations_.traps && (reads_to_caller() || flow.launch.iterations > 1);
    report_ = make_report(flow, begun_);
    const auto first =
        operations_.all.first(reads_later_ ? operations_.read_back : operations_.all.size());
    if (first.empty()) {
        end({});
        return {};
    }
    const auto guard = session_.guard_launch(flow.kernels.warm());
    if (reads_later_) queue_ = flow.queue.share();
    WYE_ASSIGN(ticket_, session_.submit(first, flow.uses, within_limit(flow.options().in_place()),
                                        enqueue, times_));
    flow.kernels.set_warm();
    flow.keep_operations(operations_);
    return {};
}

bool PendingRequest::wait(std::optional<Clock::time_point> deadline) {
    for (;;) {
        if (has_ended()) return true;
        const Ticket ticket = this->ticket();
        if (!ticket.queue) return has_ended();
        Result<void> waited;
        if (!await(ticket, deadline, waited)) return has_ended();
        const sdk::Lock lock(mutex_);
        if (!has_ended() && ticket_ == ticket) advance(std::move(waited));
    }
}

void PendingRequest::advance(Result<void> waited) noexcept {
    try {
        Result<void> result = next(std::move(waited));
        if (!result.ok() || !ticket_.queue) end(std::move(result));
    } catch (const std::exception&) {
        error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
        end({});
    }
}

// Submits the next operations. If there are no more operations, leaves an empty ticket.
Result<void> PendingRequest::next(Result<void> waited) {
    const Ticket ticket = std::exchange(ticket_, {});
    WYE_TRY(session_.ended(std::move(waited), ticket, timed_, times_));
    if ((special_.load(std::memory_order_relaxed) & kGivenUp) != 0) return stopped();
    if (operations_.traps && (reads_later_ || !reads_to_caller())) {
        Trap trap;
        auto checked = check_trap(name_, session_.info(), workspace_->trap_words, trap);
        report_.trap_code = trap.code;
        report_.trap_count = trap.count;
        WYE_TRY(std::move(checked));
        WYE_ASSIGN(const bool more, next_iteration());
        if (more) return {};
    }
    if (!std::exchange(reads_later_, false)) return deliver();
    if (is_stopping()) return stopped_early();
    const auto options = within_limit(SubmitOptions(timed_, queue_ ? queue_->number() : 0));
    WYE_ASSIGN(ticket_, session_.submit(operations_.read_backs(), {}, options, now(), times_));
    return {};
}

Result<void> PendingRequest::deliver() {
    WYE_TRY(registered_.arrived());
    if (!staged_outputs_) return {};
    WYE_TRY(staged_outputs_.arrived(0, output_bytes_));
    for (const sdk::HostCopy& copy : lent_)
        session_.copiers().copy(copy.target, copy.source, copy.size);
    return {};
}

void PendingRequest::end(Result<void> outcome) noexcept {
    complete(begun_, times_, std::move(outcome));
    if (transfer_ == 0)
        session_.counters().dispatched(!error_, report_);
    else if (!error_)
        (void)count_transfer(session_, transfer_, transferred_, {});
    if (context_.logs() && transfer_ == 0) log(texts_.get());
    ticket_ = {};
    uses_.release();
    queue_.reset();
    workspace_.release();
    programs_.clear();
    inputs_.release();
    staged_inputs_.release();
    registered_.release();
    if (error_ || borrows_) staged_outputs_.release();
    session_.pending().remove(*this, ended_);
}

void PendingRequest::end_without_memory() noexcept {
    const sdk::Lock lock(mutex_);
    if (has_ended() || !ticket_.queue || !ticket_.queue->has_ended(ticket_.value)) return;
    error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
    end({});
}

void PendingRequest::copy_out() const {
    for (const sdk::HostCopy& copy : owned_)
        session_.copiers().copy(copy.target, copy.source, copy.size);
}

Result<std::span<const std::byte>> PendingRequest::output(std::uint32_t binding) const {
    WYE_TRY(outcome());
    const auto found = std::ranges::find(list_, binding, &Output::binding);
    if (found == list_.end()) return Pending::output(binding);
    const std::byte* bytes = staged_outputs_ ? staged_outputs_.data() : outputs_.data();
    return std::span<const std::byte>(bytes + found->offset, found->size);
}

}  // namespace wye::exec
