// SPDX-License-Identifier: Apache-2.0
//
// Copiers: threads that copy host memory in pieces, since one thread is slower than a device's bus.
// The thread that waits for a copy takes part in it, so copies complete even if no thread can be
// started. The threads are started at the first copy that has several pieces. Free-threaded;
// outlives its copies.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wye/sdk/mutex.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

// A copy in progress. The object must stay at its address until `Copiers::wait` has returned.
struct HostCopyJob {
    std::byte* target = nullptr;
    const std::byte* source = nullptr;
    std::size_t size = 0;

    // The members from here on are for Copiers only.
    std::size_t piece = 0;                // bytes that a thread copies at a time
    std::atomic<std::size_t> taken{0};    // bytes that threads have taken; may exceed the size
    std::atomic<std::size_t> done{0};     // bytes copied so far
    std::atomic<std::uint32_t> users{0};  // threads that access the job, besides the waiter
    bool listed = false;                  // in the list; guarded by the lock of Copiers
    HostCopyJob* following = nullptr;     // next job in the list; guarded by the same lock
};

class Copiers {
  public:
    // `threads`: how many threads copy at once, including the thread that waits for the copy.
    explicit Copiers(std::uint64_t threads) : limit_(threads) {}
    ~Copiers();
    Copiers(const Copiers&) = delete;
    Copiers& operator=(const Copiers&) = delete;

    // Begins a copy. Its memory must stay valid until `wait` has returned.
    void start(HostCopyJob& job) noexcept;
    // Takes part in the copy, and returns once all bytes are copied.
    void wait(HostCopyJob& job) noexcept;
    void copy(void* target, const void* source, std::size_t size) noexcept;

  private:
    // The size of a piece. Measured on 16 processors: a copy of 1 MiB takes 25 us in eight pieces
    // and 45 to 60 us in four; 512 KiB takes 15 us in two pieces and 30 us in four.
    [[nodiscard]] static std::size_t piece_of(std::size_t size) {
        constexpr std::size_t kKiB = 1024;
        return size > 512 * kKiB && size < 4096 * kKiB ? 128 * kKiB : 256 * kKiB;
    }
    // How long an idle thread looks for more work before it sleeps: the next copy often follows
    // soon, and waking up takes longer than copying a piece.
    static constexpr std::chrono::microseconds kLinger{300};

    // Copies pieces of a job until threads have taken all of its pieces.
    static void copy_pieces(HostCopyJob& job) noexcept;
    // Returns the oldest job, which then counts this thread as a user; null: no job. Takes
    // no lock, since several threads call this function at once after `start`.
    [[nodiscard]] HostCopyJob* enter() noexcept;
    void leave(HostCopyJob& job) noexcept;
    // Removes a job from the list. Does nothing if the job is not in the list.
    void remove(HostCopyJob& job) WYE_REQUIRES(mutex_);
    void make_threads(std::size_t wanted) WYE_REQUIRES(mutex_);
    void run() noexcept;

    const std::uint64_t limit_;
    sdk::WaitMutex mutex_;
    std::condition_variable added_, ended_;
    // The list of jobs that may have pieces left, the oldest first. `first_` is written with the
    // lock held, and read without it.
    std::atomic<HostCopyJob*> first_{nullptr};
    HostCopyJob* last_ WYE_GUARDED_BY(mutex_) = nullptr;
    std::atomic<std::uint32_t> entering_{0};       // threads in `enter`, reading `first_`
    std::atomic<std::uint32_t> sleeping_{0};       // threads in `wait` that wait for `ended_`
    std::size_t idle_ WYE_GUARDED_BY(mutex_) = 0;  // threads that wait for `added_`
    bool stopping_ WYE_GUARDED_BY(mutex_) = false;
    bool refused_ WYE_GUARDED_BY(mutex_) = false;  // the system has refused to start more threads
    std::vector<sdk::WideThread> threads_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
