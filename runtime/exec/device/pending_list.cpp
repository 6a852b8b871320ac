// SPDX-License-Identifier: Apache-2.0
#include "exec/device/pending_list.hpp"

#include <fmt/format.h>

namespace wye::exec {

// Does not lock the mutex: no other thread uses the list, and the queues, which own the mutex, may
// be gone.
PendingList::~PendingList() {
    while (ends_.newer != &ends_)  // drops the list's references
        (void)unlink(*static_cast<PendingWork*>(ends_.newer));
    destroy(idle_);
}

void PendingList::destroy(WorkLink* all) noexcept {
    while (all != nullptr) delete static_cast<PendingWork*>(std::exchange(all, all->newer));
}

void PendingList::drop_idle() noexcept {
    WorkLink* all = nullptr;
    {
        const sdk::Lock lock(mutex_);
        all = std::exchange(idle_, nullptr);
        idle_count_ = 0;
    }
    destroy(all);
}

Result<PendingRoom> PendingList::room_slowly(std::uint64_t bytes, bool at_once,
                                             std::optional<Clock::time_point> deadline) {
    // Polls work that has ended, so that its memory is reused even if no call waits for it.
    if (bytes >= kWorthAsking)
        for (WorkRef first = oldest(); first && first->poll(); first = oldest()) {
        }
    for (;;) {
        if (try_room(bytes)) return PendingRoom(*this, bytes);
        const WorkRef first = oldest();
        if (first && first->poll()) continue;
        if (at_once)
            return Error(
                Code::DEVICE_BUSY,
                fmt::format("{} has no room for another dispatch: at most {} may be in "
                            "flight, and together they may own at most {} bytes of host memory",
                            device_, limits_.count, limits_.bytes),
                "Fix: wait for one of them, or raise pending.count or pending.bytes of "
                "the context's configuration",
                device_);
        if (first ? !first->wait(deadline) : !await_change(bytes, deadline))
            return Error(Code::TIMEOUT,
                         fmt::format("{} did not have room for another dispatch before the "
                                     "time-out",
                                     device_),
                         "Fix: give a longer time-out, or raise pending.count or pending.bytes of "
                         "the context's configuration",
                         device_);
    }
}

bool PendingList::await_change(std::uint64_t bytes, std::optional<Clock::time_point> deadline) {
    const sdk::Lock lock(mutex_);
    bool in_time = true;
    ++waiting_;
    while (in_time && ends_.newer == &ends_ && !has_room(bytes)) {
        if (!deadline)
            changed_.wait(mutex_);
        else
            in_time = changed_.wait_until(mutex_, *deadline) == std::cv_status::no_timeout;
    }
    --waiting_;
    return in_time;
}

WorkRef PendingList::oldest() {
    const sdk::Lock lock(mutex_);
    if (ends_.newer == &ends_) return nullptr;
    return WorkRef(static_cast<PendingWork*>(ends_.newer));
}

std::vector<WorkRef> PendingList::all() {
    std::vector<WorkRef> out;
    const sdk::Lock lock(mutex_);
    out.reserve(count_);
    for (WorkLink* one = ends_.newer; one != &ends_; one = one->newer)
        out.emplace_back(static_cast<PendingWork*>(one));
    return out;
}

std::string PendingList::given_up() {
    for (const WorkRef& work : all())
        if (work->is_given_up()) return work->what();
    return {};
}

bool PendingList::collect() {
    for (const WorkRef& work : all()) (void)work->poll();
    const sdk::Lock lock(mutex_);
    return count_ == 0;
}

void PendingList::wait_for_all() {
    for (WorkRef work = oldest(); work; work = oldest()) work->wait_for_end();
}

}  // namespace wye::exec
