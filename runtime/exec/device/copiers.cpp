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
    job.taken = 0;
    job.done.store(0, std::memory_order_relaxed);
    job.following = nullptr;
    if (job.size == 0) return;
    const std::size_t piece = piece_of(job.size);
    const std::size_t pieces = (job.size + piece - 1) / piece;
    const sdk::Lock lock(mutex_);
    (last_ == nullptr ? first_ : last_->following) = &job;
    last_ = &job;
    const std::size_t others = std::min<std::size_t>(pieces, limit_) - 1;
    if (others > idle_) make_threads(others - idle_);
    more_.store(true, std::memory_order_relaxed);
    // Wakes at most two threads, which wake the others, so that this thread can start to copy.
    for (std::size_t i = std::min({others, idle_, std::size_t{2}}); i != 0; --i)
        added_.notify_one();
}

void Copiers::wait(HostCopyJob& job) noexcept {
    sdk::WaitingLock lock(mutex_);
    while (job.taken != job.size) {
        const Piece piece = take();
        lock.unlock();
        copy(piece);
        lock.lock();
        copied(piece);
    }
    // Other threads are copying the last pieces, which takes less time than going to sleep.
    lock.unlock();
    for (int i = 0; i < 1000 && job.done.load(std::memory_order_relaxed) != job.size; ++i)
        std::this_thread::yield();
    lock.lock();
    while (job.done.load(std::memory_order_relaxed) != job.size) lock.wait(ended_);
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

Copiers::Piece Copiers::take() {
    HostCopyJob* job = first_;
    if (job == nullptr) return {};
    const Piece out{job, job->taken, std::min(job->size - job->taken, piece_of(job->size))};
    job->taken += out.size;
    if (job->taken == job->size) {
        first_ = job->following;
        if (first_ == nullptr) {
            last_ = nullptr;
            more_.store(false, std::memory_order_relaxed);
        }
    }
    return out;
}

void Copiers::copy(const Piece& piece) noexcept {
    std::memcpy(piece.job->target + piece.at, piece.job->source + piece.at, piece.size);
}

// Called with the lock held. The waiting thread checks the job under the same lock, and the job may
// be destroyed afterwards.
void Copiers::copied(const Piece& piece) {
    HostCopyJob& job = *piece.job;
    if (job.done.fetch_add(piece.size, std::memory_order_relaxed) + piece.size == job.size)
        ended_.notify_all();
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
    sdk::WaitingLock lock(mutex_);
    for (bool looked = false; !stopping_;) {
        const Piece piece = take();
        if (piece.job != nullptr) {
            if (first_ != nullptr && idle_ != 0) added_.notify_one();
            lock.unlock();
            copy(piece);
            lock.lock();
            copied(piece);
            looked = false;
        } else if (!std::exchange(looked, true)) {
            lock.unlock();
            const auto end = std::chrono::steady_clock::now() + kLinger;
            while (!more_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
            lock.lock();
        } else {
            ++idle_;
            lock.wait(added_);
            --idle_;
        }
    }
}

}  // namespace wye::exec
