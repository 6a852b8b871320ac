// SPDX-License-Identifier: Apache-2.0
#include "exec/device/watcher.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace wye::exec {
namespace {

// The longest wait for one entry, after which other and new entries are checked. It waits for the
// oldest one: a queue ends its work in order, so others rarely end before it.
constexpr std::chrono::milliseconds kLongestWait{2};

}  // namespace

Result<void> Watcher::add(WorkRef work, std::function<void()> then) {
    std::list<Entry> entry;
    entry.push_back({std::move(work), std::move(then)});
    const sdk::Lock lock(mutex_);
    if (stopping_)
        return Error(Code::SHUTTING_DOWN, "the device is being closed",
                     "Fix: ask to be notified before the context is destroyed");
    if (!started_) {
        WYE_ASSIGN(thread_, sdk::WideThread::start("wye-watch", [this] { run(); }));
        started_ = true;
    }
    // Nothing fails from here on, so an entry is kept only if the call succeeds.
    added_.splice(added_.end(), entry);
    changed_.notify_one();
    return {};
}

void Watcher::stop() noexcept {
    sdk::WideThread thread;
    {
        const sdk::Lock lock(mutex_);
        stopping_ = true;
        thread = std::move(thread_);
        changed_.notify_one();
    }
    thread.join();
}

bool Watcher::fetch(std::list<Entry>& entries) {
    sdk::WaitingLock lock(mutex_);
    while (entries.empty() && added_.empty() && !stopping_) lock.wait(changed_);
    entries.splice(entries.end(), added_);
    return !entries.empty();
}

void Watcher::run() noexcept {
    // If memory runs out it asks again.
    const auto has_ended = [](PendingWork& work, std::chrono::milliseconds limit) noexcept {
        try {
            return work.is_given_up() || work.wait(Clock::now() + limit);
        } catch (const std::exception&) {
            return false;
        }
    };
    std::list<Entry> entries;  // the oldest first
    while (fetch(entries)) {
        (void)has_ended(*entries.front().work, kLongestWait);
        for (auto entry = entries.begin(); entry != entries.end();) {
            if (!has_ended(*entry->work, {})) {
                ++entry;
                continue;
            }
            entry->then();
            entry = entries.erase(entry);
        }
    }
}

}  // namespace wye::exec
