// SPDX-License-Identifier: Apache-2.0
#include "cpu/queue.hpp"

#include "cpu/buffer.hpp"
#include "cpu/command.hpp"
#include "cpu/program.hpp"
#include "cpu/run/transfers.hpp"
#include "wye/sdk/launch_shape.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::cpu {

Result<std::unique_ptr<Queue>> Queue::create(Device& device, const wye_queue_desc&) {
    return std::unique_ptr<Queue>(new Queue(device));
}

void Queue::operator delete(Queue* queue, std::destroying_delete_t) noexcept {
    queue->timeline_.drain();
    queue->server_.stop();
    queue->timeline_.release();
}

void Queue::free() noexcept {
    this->~Queue();
    ::operator delete(this);
}

void Timeline::release() noexcept {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) queue_.free();
}

Result<void> Queue::begin() {
    timeline_.running.begin(value());
    return {};
}

Result<void> Queue::wait_for(Timeline& other, std::uint64_t value) {
    WYE_ASSIGN(const bool ended, other.poll(value));
    return ended ? Result<void>() : wait_in_batch(other, value, false);
}

Result<void> Queue::order_after(Timeline& other, std::uint64_t value) {
    const Result<bool> ended = other.poll(value);
    if (!ended.ok() && ended.error().code == Code::DEVICE_LOST) return ended.error();
    return !ended.ok() || *ended ? Result<void>() : wait_in_batch(other, value, true);
}

Result<void> Queue::wait_in_batch(Timeline& other, std::uint64_t value, bool order_only) {
    if (!batch_) batch_ = server_.batch();
    batch_->wait_for(other, value, order_only);
    return {};
}

[[gnu::always_inline]] inline std::span<const wye_operation> Queue::plan(
    std::span<const wye_operation> operations) {
    const bool here = !batch_ && timeline_.idle() && is_small(operations);
    if (!here && !batch_) batch_ = server_.batch();
    if (timed()) start_ns_ = sdk::monotonic_ns();
    return operations;
}

Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    if (op.again == 0) {
        WYE_ASSIGN(launch_, make_launch(op));
        again_ = Again::First;
    } else if (again_ == Again::First) {
        again_ = is_short(launch_) ? Again::Short : Again::Long;
        if (again_ == Again::Short)
            launch_.number = device_.plugin.launches.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    if (again_ == Again::Short) return queued(run_short(launch_, server_.worker));
    return queued(try_launch(launch_, server_.worker, stop(), handover_));
}

Result<void> Queue::copy(const wye_copy_op& op) { return queued(run_copy(op, stop())); }

Result<void> Queue::fill(const wye_fill_op& op) { return queued(run_fill(op, stop())); }

Result<void> Queue::upload(const wye_transfer_op& op) { return queued(run_upload(op, stop())); }

Result<void> Queue::download(const wye_transfer_op& op) { return queued(run_download(op, stop())); }

Result<void> Queue::execute(const wye_execute_op& op) {
    auto& command = sdk::command_of<Command>(op.command);
    const std::span<const wye_operation> operations = command.resolve(op);
    if (batch_ || command.launches().empty()) return perform_all(operations);
    std::size_t ran = 0;
    auto done = try_launches(command.launches(), server_.worker, stop(), ran, handover_);
    if (ran != 0) WYE_TRY(queued({}));
    WYE_TRY(queued(std::move(done)));
    if (!handover_) return {};
    batch_ = server_.batch();
    batch_->go_on(*std::exchange(handover_, std::nullopt));
    return perform_all(operations.subspan(ran));
}

[[gnu::always_inline]] inline bool Queue::replay(const wye_execute_op& op, std::uint64_t value) {
    Command& command = sdk::command_of<Command>(op.command);
    const Launch* const launch = timeline_.idle() ? command.short_launch() : nullptr;
    if (launch == nullptr) return false;
    (void)command.resolve(op);
    if (!run_short(*launch, server_.worker).ok()) return false;
    timeline_.add_reached(value);
    return true;
}

Result<void> Queue::end() {
    if (!batch_) {
        timeline_.add_ended(value(), times(), timed());
    } else {
        batch_->complete(value(), timed(), times());
        timeline_.add(value(), batch_.get(), timed());
        server_.enqueue(std::move(batch_));
    }
    return {};
}

void Queue::abandon() noexcept {
    if (batch_) server_.give_back(std::move(batch_));
    handover_ = {};
}

[[gnu::always_inline]] inline Result<void> Queue::perform(const wye_operation& op) {
    if (op.kind == WYE_OPERATION_EXECUTE) return execute(op.u.execute);
    if (!batch_) {
        WYE_TRY(InOrderQueue::perform(op));
        if (!handover_) return {};
        batch_ = server_.batch();
        batch_->go_on(*std::exchange(handover_, std::nullopt));
    }
    return batch_->keep(op);
}

// The times of the part that the caller ran; zeros if there is none, or the submit is not timed.
sdk::WorkTimes Queue::times() const {
    if (!timed() || (batch_ && !batch_->goes_on())) return {};
    const std::uint64_t now = sdk::monotonic_ns();
    return {now - start_ns_, start_ns_, now};
}

}  // namespace wye::cpu

template class wye::sdk::InOrderQueue<wye::cpu::Queue>;
template wye_status wye::sdk::QueueSlots<wye::cpu::Queue>::submit(wye_queue_object*,
                                                                  const wye_submission*,
                                                                  wye_error**);
