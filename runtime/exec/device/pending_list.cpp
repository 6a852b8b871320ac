// SPDX-License-Identifier: Apache-2.0
#include "exec/device/pending_list.hpp"

#include <fmt/format.h>

#include <vector>

namespace wye::exec {

PendingList::~PendingList() {
    while (ends_.newer != &ends_)  // work refers to itself while it is in the list
        (void)unlink(*static_cast<PendingWork*>(ends_.newer));
    drop_idle();
}

void PendingList::drop_idle() noexcept {
    WorkLink* all = nullptr;
    {
        const sdk::Lock lock(mutex_);
        all = std::exchange(idle_, nullptr);
        idle_count_ = 0;
    }
    while (all != nullptr) delete static_cast<PendingWork*>(std::exchange(all, all->newer));
}

Result<void> PendingList::add_slowly(WorkRef work, std::uint64_t bytes, bool at_once,
                                     std::optional<Clock::time_point> deadline) {
    // Settles work that has ended, so that its memory is reused even if no call waits for it.
    if (bytes >= kWorthAsking)
        for (WorkRef first = oldest(); first && first->poll(); first = oldest()) {
        }
    for (;;) {
        if (try_add(work, bytes)) return {};
        const WorkRef first = oldest();
        if (!first || first->poll()) continue;
        if (at_once)
            return Error(Code::DEVICE_BUSY,
                         fmt::format("{} has no room for another dispatch: at most {} may be in "
                                     "flight, which own at most {} bytes of host memory",
                                     device_, limits_.count, limits_.bytes),
                         "Fix: wait for one of them, or raise pending.count or pending.bytes of "
                         "the context's configuration",
                         device_);
        if (!first->wait(deadline))
            return Error(Code::TIMEOUT,
                         fmt::format("{} did not have room for another dispatch before the "
                                     "time-out",
                                     device_),
                         "Fix: give a longer time-out, or raise pending.count or pending.bytes of "
                         "the context's configuration",
                         device_);
    }
}

WorkRef PendingList::oldest() {
    const sdk::Lock lock(mutex_);
    if (ends_.newer == &ends_) return nullptr;
    return WorkRef(static_cast<PendingWork*>(ends_.newer));
}

bool PendingList::collect() {
    std::vector<WorkRef> all;
    {
        const sdk::Lock lock(mutex_);
        all.reserve(count_);
        for (WorkLink* one = ends_.newer; one != &ends_; one = one->newer)
            all.emplace_back(static_cast<PendingWork*>(one));
    }
    bool ended = true;
    for (const WorkRef& work : all) ended = work->poll() && ended;
    return ended;
}

void PendingList::wait_for_all() {
    for (WorkRef work = oldest(); work; work = oldest()) work->wait({});
}

}  // namespace wye::exec
