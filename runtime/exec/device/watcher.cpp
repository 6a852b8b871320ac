// SPDX-License-Identifier: Apache-2.0
#include "exec/device/watcher.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace wye::exec {
namespace {

// The maximum time of a wait for one entry, after which all entries, and new ones, are checked. The
// watcher waits for the oldest entry: a queue ends its work in order, so other entries rarely end
// before the oldest.
constexpr std::chrono::milliseconds kLongestWait{2};

}  // namespace

Result<void> Watcher::add(WorkRef work, std::function<void()> then) {
    std::list<Entry> entry;
    entry.push_back({std::move(work), std::move(then)});
    const sdk::Lock lock(mutex_);
    WYE_TRY(start_thread());
    // Nothing fails from here on, so an entry is kept only if the call succeeds.
    added_.splice(added_.end(), entry);
    changed_.notify_one();
    return {};
}

Result<void> Watcher::start_thread() {
    if (stopping_)
        return Error(Code::SHUTTING_DOWN, "the device is being closed",
                     "Fix: ask to be notified before the context is destroyed");
    if (started_) return {};
    WYE_ASSIGN(thread_, sdk::WideThread::start(name_, [this] { run(); }));
    started_ = true;
    return {};
}

Result<void> Watcher::start() {
    const sdk::Lock lock(mutex_);
    return start_thread();
}

void Watcher::set(Alarm& alarm) noexcept {
    const sdk::Lock lock(mutex_);
    alarm.older = alarms_.older;
    alarm.newer = &alarms_;
    alarms_.older->newer = &alarm;
    alarms_.older = &alarm;
    if (alarm.at.load() < wakes_) changed_.notify_one();
}

void Watcher::unset(Alarm& alarm) noexcept {
    const sdk::Lock lock(mutex_);
    if (alarm.older == nullptr) return;
    alarm.older->newer = alarm.newer;
    alarm.newer->older = alarm.older;
    alarm.older = alarm.newer = nullptr;
}

Alarm* Watcher::next_alarm(Clock::rep& first) {
    Alarm* out = nullptr;
    first = Alarm::kNever;
    for (Alarm* one = alarms_.newer; one != &alarms_; one = one->newer) {
        const Clock::rep at = one->at.load();
        if (at >= first) continue;
        first = at;
        out = one;
    }
    return out;
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

bool Watcher::fetch(std::list<Entry>& entries, WorkRef& late) {
    sdk::WaitingLock lock(mutex_);
    for (;;) {
        entries.splice(entries.end(), added_);
        Clock::rep at;
        Alarm* const alarm = next_alarm(at);
        if (at <= Clock::now().time_since_epoch().count()) {
            late = WorkRef(alarm->work);
            return true;
        }
        if (!entries.empty()) return true;
        if (stopping_) return false;
        wakes_ = at;
        if (alarm == nullptr)
            lock.wait(changed_);
        else
            (void)lock.wait_until(changed_, Clock::time_point(Clock::duration(at)));
        wakes_ = Alarm::kNever;
    }
}

void Watcher::run() noexcept {
    // Returns false if memory runs out, so that the loop below asks again.
    const auto has_ended = [](PendingWork& work, std::chrono::milliseconds limit) noexcept {
        try {
            return work.is_given_up() || work.wait(Clock::now() + limit);
        } catch (const std::exception&) {
            return false;
        }
    };
    std::list<Entry> entries;  // the oldest first
    WorkRef late;
    while (fetch(entries, late)) {
        if (late) {
            late->expire();
            late = {};
            continue;
        }
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
