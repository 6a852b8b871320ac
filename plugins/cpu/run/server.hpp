// SPDX-License-Identifier: Apache-2.0
//
// Server: a queue's thread, which runs its batches in order. The first batch starts it. The
// destructor runs pending batches and joins the thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "cpu/run/batch.hpp"
#include "cpu/timeline.hpp"

namespace wye::cpu {

class Server {
  public:
    Server(Pool& pool, Timeline& timeline) : pool_(pool), timeline_(timeline) {}
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Adds a batch. Its `value`, which the timeline already has, ends when the batch has run, or
    // fails if there is no memory or thread. `here`: the times of the part that the caller ran.
    void enqueue(std::uint64_t value, std::shared_ptr<Batch> batch, const sdk::WorkTimes& here);

    // Used by the thread that runs the queue's operations; this is the caller while nothing is
    // pending.
    Worker worker;

  private:
    struct Pending {
        std::uint64_t value = 0;
        std::shared_ptr<Batch> batch;
        sdk::WorkTimes here;
    };
    void serve();
    void run(const Pending& pending);
    void end(const Pending& pending, std::optional<Error> error);

    Pool& pool_;
    Timeline& timeline_;

    sdk::WaitMutex mutex_;
    std::condition_variable changed_;
    std::deque<Pending> pending_ WYE_GUARDED_BY(mutex_);
    bool ending_ WYE_GUARDED_BY(mutex_) = false;
    std::thread thread_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::cpu
