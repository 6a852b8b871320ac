// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/pool.hpp"

#include <algorithm>
#include <new>
#include <system_error>

#include "wye/sdk/blocked_signals.hpp"
#include "wye/sdk/float_state.hpp"

namespace wye::cpu {

Pool::~Pool() {
    std::vector<std::thread> helpers;
    {
        const sdk::Lock lock(mutex_);
        ending_ = true;
        helpers.swap(helpers_);
    }
    wake_.notify_all();
    for (std::thread& helper : helpers) helper.join();
}

// Runs chunks of the job until none is left.
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
        const sdk::Lock lock(mutex_);
        start_some();
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
        sdk::WaitingLock lock(mutex_);
        jobs_.remove(&job);
        while (job.helpers != 0) lock.wait(leave_);
    }
    if (out_of_memory) throw std::bad_alloc();
    return !job.stopped;
}

// Starts some threads. Called under the lock, by a launch and by each helper that finds a launch:
// so a short launch starts few threads, and a long launch soon has all threads. If a thread cannot
// be started, the launch is only slower.
void Pool::start_some() {
    constexpr int kAtOnce = 2;
    if (ending_ || helpers_.size() + 1 >= threads_) return;
    const sdk::BlockedSignals blocked;
    try {
        for (int i = 0; i < kAtOnce && helpers_.size() + 1 < threads_; ++i)
            helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
}

// Finds a job that has blocks left.
Pool::Job* Pool::job_to_help() {
    for (Job* job : jobs_)
        if (job->next.load(std::memory_order_relaxed) < job->launch->blocks &&
            !job->stopped.load(std::memory_order_relaxed))
            return job;
    return nullptr;
}

void Pool::help() {
    const sdk::FloatState floats;
    Worker worker;
    sdk::WaitingLock lock(mutex_);
    for (;;) {
        Job* job = job_to_help();
        if (job == nullptr) {
            if (ending_) return;
            lock.wait(wake_);
            continue;
        }
        ++job->helpers;
        start_some();
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
        // There was no memory to help this launch, so the helper waits for another launch.
        if (!can_help && !ending_) lock.wait(wake_);
    }
}

}  // namespace wye::cpu
