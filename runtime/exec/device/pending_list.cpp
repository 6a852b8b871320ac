// SPDX-License-Identifier: Apache-2.0
#include "exec/device/pending_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace wye::exec {
namespace {

// From this size on, allocating memory takes longer than asking whether older work has ended.
constexpr std::uint64_t kWorthAsking = std::uint64_t{128} << 10U;

}  // namespace

Result<void> PendingList::add(const WorkRef& work, std::uint64_t bytes, bool at_once,
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

bool PendingList::try_add(const WorkRef& work, std::uint64_t bytes) {
    const sdk::Lock lock(mutex_);
    const bool room =
        entries_.size() < limits_.count &&
        (entries_.empty() || bytes <= limits_.bytes - std::min(bytes_, limits_.bytes));
    if (!room) return false;
    entries_.push_back({work, bytes});
    bytes_ += bytes;
    return true;
}

void PendingList::remove(const PendingWork& work) noexcept {
    WorkRef last;  // possibly the last reference; released after the lock
    const sdk::Lock lock(mutex_);
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.work.get() == &work; });
    if (found == entries_.end()) return;
    bytes_ -= found->bytes;
    last = std::move(found->work);
    entries_.erase(found);
}

WorkRef PendingList::oldest() {
    const sdk::Lock lock(mutex_);
    return entries_.empty() ? nullptr : entries_.front().work;
}

bool PendingList::collect() {
    std::vector<WorkRef> all;
    {
        const sdk::Lock lock(mutex_);
        for (const Entry& entry : entries_) all.push_back(entry.work);
    }
    bool ended = true;
    for (const WorkRef& work : all) ended = work->poll() && ended;
    return ended;
}

void PendingList::wait_for_all() {
    while (const WorkRef work = oldest()) work->wait({});
}

}  // namespace wye::exec
