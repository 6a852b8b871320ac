// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending_later.hpp"

#include <exception>
#include <thread>
#include <utility>

#include "exec/dispatch/submit.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {

// Nothing here may fail, since other threads know the work from now on.
void PendingLater::go(WorkPtr<PendingLater> self, PendingRoom& room, std::list<WorkRef>& entry) {
    PendingLater& work = *self;
    work.hold_.uses = work.held_;
    room.take(std::move(self));
    work.session_.put_in_line(work.hold_, entry);
}

Result<void> PendingLater::put(WorkPtr<PendingLater> self, const registry::HandleTable& handles,
                               PendingRoom& room) {
    Flow& flow = self->later_->flow();
    std::list<WorkRef> entry(1, self);
    {
        const sdk::Lock lock(self->mutex_);
        // From now on the buffers cannot be freed, so the histories in `held_` stay valid.
        WYE_ASSIGN(self->uses_, flow.residents.begin_use(handles));
        self->iterations_left_ = flow.launch.iterations;
        flow.routed.write(self->report_);
    }
    BufferUses uses;
    flow.residents.uses(flow.launch, uses);
    self->held_.assign(uses.begin(), uses.end());
    self->hold_.queue = flow.queue.number();
    go(std::move(self), room, entry);
    return {};
}

Result<void> PendingLater::put(WorkPtr<PendingLater> self, const registry::HandleTable& handles,
                               const CheckedTransfer& checked, PendingRoom& room) {
    std::list<WorkRef> entry(1, self);
    {
        const sdk::Lock lock(self->mutex_);
        wye_operation operation;
        std::vector<wye_operation> copies;
        WYE_ASSIGN(const auto work, self->prepare_transfer(handles, checked, operation, copies));
        self->transfer_work_.assign(work.begin(), work.end());
        self->queue_ = checked.queue.share();
    }
    self->held_.assign(checked.uses.begin(), checked.uses.begin() + checked.count);
    self->hold_.queue = checked.queue.number();
    go(std::move(self), room, entry);
    return {};
}

bool PendingLater::wait(std::optional<Clock::time_point> deadline) {
    if (!session_.line().await(in_line_, deadline)) return has_ended();
    return PendingRequest::wait(deadline);
}

bool PendingLater::withdraw(bool late) {
    {
        const sdk::Lock lock(mutex_);
        if (has_ended()) return true;
        if (begun_submit_) return false;
        error_ = sdk::errors::made_or_brief(late ? Code::TIMEOUT : Code::CANCELLED,
                                            [&] { return never_ran(late); });
        end({});
    }
    leave();
    return true;
}

Result<void> PendingLater::submit_now() {
    const Clock::time_point enqueue = now();
    if (later_) {
        const Line::Compiling compiling(session_.line());
        session_.await_overdue();
        if (has_ended()) return {};
        WYE_TRY(compile_kernels(later_->flow()));
    }
    const sdk::Lock lock(mutex_);
    if (has_ended()) return {};
    begun_submit_ = true;
    // A failed submit ends the work under the same lock: other threads cannot stop work whose
    // submit has begun and which has no ticket.
    if (auto submitted = submit_first(enqueue); !submitted.ok()) end(std::move(submitted));
    return {};
}

Result<void> PendingLater::submit_first(Clock::time_point enqueue) {
    WYE_TRY(session_.ready());
    if (!later_) {
        const auto options = SubmitOptions(timed_, queue_ ? queue_->number() : 0).in_place();
        if (transfer_work_.empty()) {
            end({});
            return {};
        }
        WYE_ASSIGN(ticket_, session_.submit(transfer_work_, held_, options, enqueue, times_));
        return {};
    }
    Flow& flow = later_->flow();
    if (!stops_between_iterations(flow)) iterations_left_ = 1;
    WYE_TRY(start_held(context_.handles(), flow));
    if (!has_ended()) inputs_ = later_->take_inputs();
    flow.count_launch();
    return {};
}

Result<bool> PendingLater::next_iteration() {
    if (iterations_left_ <= 1) return false;
    if (is_stopping()) return stopped_early();
    --iterations_left_;
    const auto options =
        within_limit(SubmitOptions(timed_, queue_ ? queue_->number() : 0).in_place());
    WYE_ASSIGN(ticket_,
               session_.submit(operations_.next_iteration(), held_, options, now(), times_));
    return true;
}

void PendingLater::run_rounds() {
    for (;;) {
        {
            const sdk::Lock lock(mutex_);
            if (has_ended() || iterations_left_ <= 1) return;
        }
        const Ticket ticket = this->ticket();
        if (!ticket.queue) return;
        Result<void> waited;
        (void)await(ticket, {}, waited);
        const sdk::Lock lock(mutex_);
        if (!has_ended() && ticket_ == ticket) advance(std::move(waited));
    }
}

void PendingLater::take_turn() noexcept {
    try {
        auto submitted = submit_now();
        const sdk::Lock lock(mutex_);
        if (!submitted.ok() && !has_ended()) end(std::move(submitted));
    } catch (const std::exception&) {
        const sdk::Lock lock(mutex_);
        if (!has_ended() && !ticket_.queue) {
            error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
            end({});
        }
    }
    for (bool done = false; !done;) {
        try {
            run_rounds();
            done = true;
        } catch (const std::exception&) {  // no memory for an error's text
            end_without_memory();
            std::this_thread::yield();
        }
    }
    later_.reset();
    leave();
}

}  // namespace wye::exec
