// SPDX-License-Identifier: Apache-2.0
//
// A queue's thread, which runs its batches in order; started with the first batch. The destructor
// runs pending batches and joins the thread.
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

    // `value`, already added, ends when the batch has run, whose first part took `here` on the
    // caller; it fails without memory or a thread.
    void enqueue(std::uint64_t value, std::shared_ptr<Batch> batch, const sdk::WorkTimes& here);

    // Used by the thread that runs the queue's operations: the caller, while nothing is pending.
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
