// SPDX-License-Identifier: Apache-2.0
//
// Server: a queue's thread, and the queue's batches. The thread runs the batches in order; ended
// batches are reused. The first batch starts the thread; `stop` runs the pending batches and joins
// the thread. Apart from that thread, one thread at a time uses a server. If a batch cannot run,
// its value fails, which needs no memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
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

    // Runs the pending batches and joins the thread. Must be called before the destructor.
    void stop() noexcept;
    // Returns an empty batch.
    [[nodiscard]] std::unique_ptr<Batch> batch();
    // Takes back a batch that will not run.
    void give_back(std::unique_ptr<Batch> batch) noexcept;
    // Adds a complete batch. Its value, which the timeline already has, ends when the batch has
    // run, or fails if there is no thread.
    void enqueue(std::unique_ptr<Batch> batch) noexcept;

    // Used by the thread that runs the queue's operations: the submitting thread while nothing is
    // pending, else the queue's thread.
    Worker worker;

  private:
    // While more batches than this exist, ended batches are deleted instead of kept for reuse.
    static constexpr std::size_t kMostKept = 1024;

    [[nodiscard]] bool start(Batch& batch) noexcept;
    void wake();
    [[nodiscard]] bool await_wake();
    void serve();
    void run_all(Batch* next) noexcept;
    void run(Batch& batch) noexcept;
    void end(Batch& batch, std::optional<Error> error) noexcept;
    void settle(Batch& first, Batch& last) noexcept;

    Pool& pool_;
    Timeline& timeline_;

    Inbox inbox_;                       // new batches, for the queue's thread
    LinkStack ended_;                   // ended batches, from the queue's thread
    Link* idle_ = nullptr;              // batches for reuse; used by the submitting thread
    std::atomic<std::size_t> made_{0};  // batches that exist
    std::thread thread_;

    sdk::WaitMutex mutex_;
    std::condition_variable changed_;
    bool woken_ WYE_GUARDED_BY(mutex_) = false;
    bool ending_ WYE_GUARDED_BY(mutex_) = false;
};

}  // namespace wye::cpu
