// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch: an execution of prepared work that is in flight. The execution is one native
// submit and uses resident buffers only, so the object owns no memory. Every execution that is not
// waited for at once needs such an object. To make that cheap, the session's PendingList keeps the
// objects of ended work for reuse, and a submit writes only the members that it needs.
//
// An idle object has no references and holds nothing: its members have the initial values given
// here, except the members that every submit writes.
#pragma once

#include <memory>
#include <string>

#include "exec/dispatch/pending.hpp"
#include "exec/prepared/work.hpp"
#include "wye/graph.h"

namespace wye::exec {

class PendingLaunch final : public Pending {
  public:
    // Submits an execution, and takes the pin, which keeps the device. Errors: those of
    // PreparedWork::submit; DEVICE_BUSY if `run` has WYE_DISPATCH_AT_ONCE and the submit would have
    // to wait for room or for work in the line; TIMEOUT if the time limit ends before the submit.
    // `watched`: the caller does not wait for the work. `request`: the kept request; null: none.
    // Returns null if nothing was submitted: PreparedWork::submit returned false, or a kept request
    // found no room.
    [[nodiscard]] static Result<WorkPtr<Pending>> submit(
        const Context& context, const PreparedRef& work, registry::Pin& pin,
        const wye_graph_run_desc& run, Clock::time_point start, bool watched,
        const wye_dispatch_desc* request = nullptr);
    // The fast path of `submit`; PreparedWork::try_run is the fast path of `run`. Returns the work,
    // with a reference for the handle. Null: if `failed` has an error, the driver refused the
    // submit; else `submit` must be called.
    template <PreparedWork::Use use, typename Source>
    [[nodiscard, gnu::always_inline]] static PendingLaunch* try_submit(DeviceSession& session,
                                                                       const Source& source,
                                                                       registry::Pin& pin,
                                                                       const Instant& start,
                                                                       Result<void>& failed);
    PendingLaunch(const Context& context, DeviceSession& session)
        : Pending(context, session, false, false) {}

    bool wait(std::optional<Clock::time_point> deadline) override;
    [[nodiscard]] const std::string& name() const noexcept override { return work_->label(); }

  private:
    // Takes an idle object, or makes one.
    [[nodiscard]] static WorkPtr<PendingLaunch> take(const Context& context,
                                                     DeviceSession& session);
    [[nodiscard]] Result<bool> start(const registry::HandleTable& handles,
                                     const wye_graph_run_desc& run, Clock::time_point start);
    // Undoes the submit of `try_submit` after a failure, and returns the pin.
    [[nodiscard, gnu::cold, gnu::noinline]] registry::Pin fail_quick(
        const PreparedWork::Quick& quick) noexcept;
    void unreferenced() noexcept override;
    [[nodiscard]] Ticket ticket() override { return ticket_; }
    // Called when the work has ended.
    void end(Result<void> waited) noexcept WYE_REQUIRES(mutex_);
    [[nodiscard]] Result<void> outcome_of(Result<void> waited, RunTimes& times)
        WYE_REQUIRES(mutex_);
    void end_without_memory() noexcept override;

    // Every submit writes these.
    PreparedWork* work_ = nullptr;  // holds a reference to the work
    Instant begun_, queued_;

    registry::Pin pin_;
    std::unique_ptr<const Texts> texts_;  // null: nothing is logged
    // Not changed after the submit. An idle object may keep a reference to the pool's first queue,
    // since its next work is mostly submitted there.
    Ticket ticket_;
    PreparedWork::Execution execution_ WYE_GUARDED_BY(mutex_);
};

template <PreparedWork::Use use, typename Source>
inline PendingLaunch* PendingLaunch::try_submit(DeviceSession& session, const Source& source,
                                                registry::Pin& pin, const Instant& start,
                                                Result<void>& failed) {
    QueuePool& queues = session.queues();
    PendingList& list = session.pending();
    if (!session.is_ready() || queues.is_traced()) [[unlikely]]
        return nullptr;
    PendingLaunch* out = nullptr;
    PreparedWork::Quick quick;
    {
        const sdk::Lock lock(queues.mutex);
        list.assert_held();
        out = static_cast<PendingLaunch*>(list.reserve());
        if (out == nullptr) [[unlikely]]
            return nullptr;
        quick = source.begin(queues);
        if (quick.work == nullptr) [[unlikely]] {
            list.keep_back(*out);
            return nullptr;
        }
        quick.work->refer_held();
        if (out->ticket_.queue.get() != quick.native) [[unlikely]]
            out->ticket_.queue = queues.native(quick.index);
    }
    out->begun_ = start;
    out->work_ = quick.work;
    out->pin_ = std::move(pin);
    out->timed_ = false;
    out->ticket_.index = quick.index;
    out->ticket_.value = quick.value;
    out->set_references(2);  // one for the list, one for the handle
    try {
        if (!quick.send(failed)) [[unlikely]] {
            failed = session.noted_plain(std::move(failed));
            if (use == PreparedWork::Use::Kept && !failed.ok()) session.counters().failed();
            pin = out->fail_quick(quick);
            return nullptr;
        }
    } catch (...) {
        pin = out->fail_quick(quick);
        throw;
    }
    out->queued_.read();
    const sdk::Lock lock(queues.mutex);
    list.assert_held();
    session.counters().sent();
    if (use == PreparedWork::Use::Kept) session.counters().repeated();
    quick.end(queues);
    list.append(*out);
    return out;
}

}  // namespace wye::exec
