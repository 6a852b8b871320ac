// SPDX-License-Identifier: Apache-2.0
#include "exec/device/copiers.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

namespace wye::exec {

Copiers::~Copiers() {
    std::vector<sdk::WideThread> threads;
    {
        const sdk::Lock lock(mutex_);
        stopping_ = true;
        threads = std::move(threads_);
        added_.notify_all();
    }
    for (sdk::WideThread& thread : threads) thread.join();
}

void Copiers::start(HostCopyJob& job) noexcept {
    job.taken.store(0, std::memory_order_relaxed);
    job.done.store(0, std::memory_order_relaxed);
    job.following = nullptr;
    if (job.size == 0) return;
    job.piece = piece_of(job.size);
    const std::size_t pieces = (job.size + job.piece - 1) / job.piece;
    const sdk::Lock lock(mutex_);
    job.listed = true;
    if (last_ == nullptr)
        first_.store(&job);
    else
        last_->following = &job;
    last_ = &job;
    const std::size_t others = std::min<std::size_t>(pieces, limit_) - 1;
    if (others > idle_) make_threads(others - idle_);
    // Wakes at most two threads, which wake the others, so that this thread can start to copy.
    for (std::size_t i = std::min({others, idle_, std::size_t{2}}); i != 0; --i)
        added_.notify_one();
}

void Copiers::wait(HostCopyJob& job) noexcept {
    if (job.size == 0) return;
    copy_pieces(job);
    {
        const sdk::Lock lock(mutex_);
        remove(job);
    }
    // From here on no thread becomes a user of the job, except a thread that has already read
    // `first_`.
    while (entering_.load() != 0) std::this_thread::yield();
    const auto ended = [&] {
        return job.users.load() == 0 && job.done.load(std::memory_order_acquire) == job.size;
    };
    // Other threads are copying the last pieces, which takes less time than going to sleep.
    for (int i = 0; i < 1000 && !ended(); ++i) std::this_thread::yield();
    if (ended()) return;
    sdk::WaitingLock lock(mutex_);
    sleeping_.fetch_add(1);
    while (!ended()) lock.wait(ended_);
    sleeping_.fetch_sub(1);
}

void Copiers::copy(void* target, const void* source, std::size_t size) noexcept {
    if (size <= piece_of(size)) {
        if (size != 0) std::memcpy(target, source, size);
        return;
    }
    HostCopyJob job;
    job.target = static_cast<std::byte*>(target);
    job.source = static_cast<const std::byte*>(source);
    job.size = size;
    start(job);
    wait(job);
}

void Copiers::copy_pieces(HostCopyJob& job) noexcept {
    for (;;) {
        const std::size_t at = job.taken.fetch_add(job.piece, std::memory_order_relaxed);
        if (at >= job.size) return;
        const std::size_t size = std::min(job.size - at, job.piece);
        std::memcpy(job.target + at, job.source + at, size);
        job.done.fetch_add(size, std::memory_order_release);
    }
}

// A thread in `wait` first removes its job from the list, then reads `entering_`. So either the
// waiting thread sees that this thread is entering, or this thread does not see the job.
HostCopyJob* Copiers::enter() noexcept {
    if (first_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    entering_.fetch_add(1);
    HostCopyJob* const job = first_.load();
    if (job != nullptr) job->users.fetch_add(1);
    entering_.fetch_sub(1);
    return job;
}

// Once the job has no users, its owner may destroy it, so the decrement comes last.
void Copiers::leave(HostCopyJob& job) noexcept {
    if (first_.load(std::memory_order_relaxed) == &job) {
        const sdk::Lock lock(mutex_);
        remove(job);
    }
    job.users.fetch_sub(1);
    if (sleeping_.load() == 0) return;
    const sdk::Lock lock(mutex_);
    ended_.notify_all();
}

void Copiers::remove(HostCopyJob& job) {
    if (!std::exchange(job.listed, false)) return;
    HostCopyJob* before = nullptr;
    for (HostCopyJob* one = first_.load(); one != &job; one = one->following) before = one;
    if (before == nullptr)
        first_.store(job.following);
    else
        before->following = job.following;
    if (last_ == &job) last_ = before;
}

void Copiers::make_threads(std::size_t wanted) {
    try {
        while (!refused_ && wanted-- != 0 && threads_.size() + 1 < limit_) {
            threads_.reserve(threads_.size() + 1);
            auto thread = sdk::WideThread::start("wye-copy", [this] { run(); });
            refused_ = !thread.ok();
            if (thread.ok()) threads_.push_back(std::move(thread).value());
        }
    } catch (const std::exception&) {  // no memory: fewer threads copy
    }
}

void Copiers::run() noexcept {
    const auto look = [&]() -> HostCopyJob* {
        const auto end = std::chrono::steady_clock::now() + kLinger;
        for (;;) {
            if (HostCopyJob* const job = enter()) return job;
            if (std::chrono::steady_clock::now() >= end) return nullptr;
            std::this_thread::yield();
        }
    };
    for (;;) {
        if (HostCopyJob* const job = look()) {
            copy_pieces(*job);
            leave(*job);
            continue;
        }
        sdk::WaitingLock lock(mutex_);
        ++idle_;
        while (!stopping_ && first_.load() == nullptr) lock.wait(added_);
        --idle_;
        if (stopping_) return;
        if (idle_ != 0) added_.notify_one();
    }
}

}  // namespace wye::exec
