// SPDX-License-Identifier: Apache-2.0
//
// Pool: threads that help to run the blocks of a launch. Launches of several blocks start the
// threads, a few at a time, and the destructor joins them. Several launches may run at once; the
// caller of each launch takes part and returns after all its blocks have ended.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

#include "cpu/run/run.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::cpu {

class Pool {
  public:
    explicit Pool(unsigned threads) : threads_(threads == 0 ? 1 : threads) {}
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    [[nodiscard]] unsigned threads() const { return threads_; }

    // Runs blocks [first, launch.blocks) on the caller (with `own`) and on helpers. False: stopped.
    // Throws bad_alloc if the caller has no memory for registers; a helper without memory leaves
    // the launch.
    bool run(const Launch& launch, std::uint64_t first, Worker& own);

  private:
    struct Job {
        const Launch* launch = nullptr;
        std::atomic<std::uint64_t> next{0};
        std::uint64_t chunk = 1;
        std::atomic<bool> stopped{false};
        unsigned helpers = 0;  // guarded by the pool's lock
    };
    static void work(Job& job, Worker& worker);
    void help();
    void start_some() WYE_REQUIRES(mutex_);
    [[nodiscard]] Job* job_to_help() WYE_REQUIRES(mutex_);

    const unsigned threads_;
    sdk::WaitMutex mutex_;
    std::condition_variable wake_;   // notified for a new job, and at the end
    std::condition_variable leave_;  // notified when a helper leaves a job
    std::list<Job*> jobs_ WYE_GUARDED_BY(mutex_);
    std::vector<std::thread> helpers_ WYE_GUARDED_BY(mutex_);
    bool ending_ WYE_GUARDED_BY(mutex_) = false;
};

}  // namespace wye::cpu
