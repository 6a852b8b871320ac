// SPDX-License-Identifier: Apache-2.0
#include "exec/device/line.hpp"

#include <utility>

namespace wye::exec {

Result<void> Line::start() {
    const sdk::Lock lock(mutex_);
    if (started_ || stopping_) return {};
    WYE_ASSIGN(thread_, sdk::WideThread::start("wye-line", [this] { run(); }));
    started_ = true;
    return {};
}

void Line::add(std::list<WorkRef>& one) noexcept {
    const sdk::Lock lock(mutex_);
    waiting_.splice(waiting_.end(), one);
    changed_.notify_all();
}

bool Line::await(const std::atomic<bool>& in_line, std::optional<Clock::time_point> deadline) {
    sdk::WaitingLock lock(mutex_);
    while (in_line.load(std::memory_order_acquire)) {
        if (!deadline)
            lock.wait(changed_);
        else if (*deadline <= Clock::now() || !lock.wait_until(changed_, *deadline))
            return !in_line.load(std::memory_order_acquire);
    }
    return true;
}

void Line::left(std::atomic<bool>& in_line) noexcept {
    const sdk::Lock lock(mutex_);
    in_line.store(false, std::memory_order_release);
    changed_.notify_all();
}

void Line::set_compiling(bool compiling) noexcept {
    const sdk::Lock lock(mutex_);
    compiling_ = compiling;
    changed_.notify_all();
}

bool Line::is_idle() {
    sdk::WaitingLock lock(mutex_);
    const std::uint64_t turn = turns_;
    while (busy_ && !compiling_ && turns_ == turn) lock.wait(changed_);
    return waiting_.empty() && !busy_;
}

void Line::await_idle() {
    sdk::WaitingLock lock(mutex_);
    while (!waiting_.empty() || busy_) lock.wait(changed_);
}

void Line::stop() noexcept {
    sdk::WideThread thread;
    {
        const sdk::Lock lock(mutex_);
        stopping_ = true;
        thread = std::move(thread_);
        changed_.notify_all();
    }
    thread.join();
}

void Line::run() noexcept {
    for (;;) {
        std::list<WorkRef> now;
        {
            sdk::WaitingLock lock(mutex_);
            while (waiting_.empty() && !stopping_) lock.wait(changed_);
            if (waiting_.empty()) return;
            now.splice(now.end(), waiting_, waiting_.begin());
            busy_ = true;
            ++turns_;
        }
        now.front()->take_turn();
        now.clear();  // may free the work, so do it before the line counts as idle
        const sdk::Lock lock(mutex_);
        busy_ = false;
        changed_.notify_all();
    }
}

}  // namespace wye::exec
