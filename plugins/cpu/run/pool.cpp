// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/pool.hpp"

#include <algorithm>
#include <new>
#include <system_error>

#include "cpu/run/float_state.hpp"

namespace wye::cpu {

Pool::~Pool() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

// Takes chunks until none is left.
void Pool::work(Job& job, Worker& worker) {
    const Launch& launch = *job.launch;
    worker.prepare(launch);
    while (!job.stopped.load(std::memory_order_relaxed)) {
        const std::uint64_t first = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
        if (first >= launch.blocks) break;
        const std::uint64_t end = std::min(launch.blocks, first + job.chunk);
        for (std::uint64_t block = first; block < end; ++block) {
            const bool stop = launch.stop.requested() ||
                              worker.block(launch, block, true) == Worker::State::Stopped;
            if (!stop) continue;
            job.stopped.store(true, std::memory_order_relaxed);
            break;
        }
    }
    worker.finish(launch);
}

bool Pool::run(const Launch& launch, std::uint64_t first, Worker& own) {
    if (first >= launch.blocks) return true;
    Job job;
    job.launch = &launch;
    job.next = first;
    const std::uint64_t left = launch.blocks - first;
    job.chunk = std::clamp<std::uint64_t>(left / (std::uint64_t{threads_} * 16), 1, 4096);
    const bool shared = threads_ > 1 && left > 1;
    if (shared) {
        const std::lock_guard lock(mutex_);
        start();
        jobs_.push_back(&job);
    }
    if (shared) wake_.notify_all();
    bool out_of_memory = false;
    try {
        work(job, own);
    } catch (const std::bad_alloc&) {
        out_of_memory = true;
        job.stopped = true;
    }
    if (shared) {
        std::unique_lock lock(mutex_);
        jobs_.remove(&job);
        leave_.wait(lock, [&] { return job.helpers == 0; });
    }
    if (out_of_memory) throw std::bad_alloc();
    return !job.stopped;
}

// Under the lock. A thread that cannot be had only makes the launch slower.
void Pool::start() {
    if (!helpers_.empty()) return;
    try {
        helpers_.reserve(threads_ - 1);
        while (helpers_.size() + 1 < threads_) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
}

void Pool::help() {
    const FloatState floats;
    Worker worker;
    std::unique_lock lock(mutex_);
    for (;;) {
        Job* job = nullptr;
        for (Job* candidate : jobs_) {
            if (candidate->next.load(std::memory_order_relaxed) >= candidate->launch->blocks ||
                candidate->stopped.load(std::memory_order_relaxed))
                continue;
            job = candidate;
            break;
        }
        if (job == nullptr) {
            if (ending_) return;
            wake_.wait(lock);
            continue;
        }
        ++job->helpers;
        lock.unlock();
        bool can_help = true;
        try {
            work(*job, worker);
        } catch (const std::bad_alloc&) {
            can_help = false;
        }
        lock.lock();
        --job->helpers;
        leave_.notify_all();
        // Without memory for this launch, wait for another one.
        if (!can_help && !ending_) wake_.wait(lock);
    }
}

}  // namespace wye::cpu
