// SPDX-License-Identifier: Apache-2.0
//
// A queue: operations in order, events on a timeline. A submit that is small, on a queue with
// nothing pending, runs on the caller and its event is reached on return; if it turns out to take
// long, it is handed over in mid-run. Everything else runs on the queue's own thread, with the
// pool's help. A failure poisons its event and all later ones.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cpu/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::cpu {

class Queue {
  public:
    explicit Queue(Device& device) : device_(device) {}
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    [[nodiscard]] const wye_host_table& host() const { return *device_.plugin->host; }

    // One thread at a time. Throws bad_alloc or system_error before anything is queued.
    Result<std::uint64_t> submit(const wye_operation* operations, std::uint64_t count,
                                 const wye_event* waits, std::uint64_t wait_count);
    enum class Answer : std::uint8_t { Reached, NotYet, Failed };
    // Free-threaded.
    Answer poll(std::uint64_t value) const;
    Answer wait(std::uint64_t value, std::uint64_t timeout_ns);
    [[nodiscard]] Error failure(std::uint64_t value) const;
    void cancel(std::uint64_t value);
    [[nodiscard]] std::optional<std::uint64_t> device_ns(std::uint64_t value) const;

  private:
    // Where a dispatch stood when the caller had spent enough time on it.
    struct Handover {
        std::uint64_t block = 0;
        bool within = false;  // the worker stands in the middle of it
    };
    // A submit that waits for the queue's thread, with copies of all that was borrowed.
    struct Batch {
        std::uint64_t value = 0;
        std::vector<wye_operation> operations;
        std::vector<std::vector<wye_binding>> bindings;
        std::vector<std::vector<std::byte>> params;
        std::vector<wye_event> waits;
        std::optional<Handover> handover;  // of the first operation
        std::uint64_t spent_ns = 0;
    };
    static std::unique_ptr<Batch> copy(const wye_operation* operations, std::uint64_t count,
                                       const wye_event* waits, std::uint64_t wait_count);
    [[nodiscard]] bool idle() const;
    [[nodiscard]] bool all_reached(const wye_event* waits, std::uint64_t count) const;
    static bool small(const wye_operation* operations, std::uint64_t count);

    void run_here(const wye_operation* operations, std::uint64_t count, std::uint64_t value);
    Result<std::optional<Handover>> try_dispatch(const wye_dispatch_op& op, std::uint64_t value);
    Result<void> run_batch(Batch& batch);
    Result<void> dispatch(const wye_dispatch_op& op, std::uint64_t value,
                          const std::optional<Handover>& handover);
    // False: it was cancelled, and only a part of the bytes moved.
    [[nodiscard]] bool transfer(const wye_operation& operation, std::uint64_t value) const;
    void enqueue(std::unique_ptr<Batch> batch);
    void serve();
    void end(std::uint64_t value, std::optional<Error> error, std::uint64_t spent_ns);

    Device& device_;
    Worker worker_;  // of whoever runs this queue's operations

    mutable std::mutex mutex_;
    std::condition_variable changed_;  // completed_ or pending_ or ending_
    std::deque<std::unique_ptr<Batch>> pending_;
    std::thread thread_;
    bool ending_ = false;
    std::optional<Error> error_;

    static constexpr std::uint64_t kNever = ~std::uint64_t{0};
    static constexpr std::size_t kTimes = 256;
    std::uint64_t submitted_ = 0;  // by the submitting thread
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> poisoned_{kNever};  // first failed value
    std::atomic<std::uint64_t> cancelled_{0};
    struct Time {
        std::uint64_t value = 0;
        std::uint64_t ns = 0;
    };
    std::array<Time, kTimes> times_{};  // under mutex_
};

}  // namespace wye::cpu
