// SPDX-License-Identifier: Apache-2.0
//
// PendingList: the asynchronous work in flight on a device, with limits on its number and on the
// host memory that it owns. Free-threaded; does not call work while it holds its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "exec/device/clock.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// A piece of asynchronous work. Once it has ended it never runs again. Free-threaded.
class PendingWork {
  public:
    PendingWork() = default;
    PendingWork(const PendingWork&) = delete;
    PendingWork& operator=(const PendingWork&) = delete;
    virtual ~PendingWork() = default;
    // Returns whether it has ended, after settling it. Does not wait for the device.
    [[nodiscard]] virtual bool poll() = 0;
    // As poll, but waits for the end, at most until the deadline (none: no limit).
    virtual bool wait(std::optional<Clock::time_point> deadline) = 0;
    // Whether its result is known before its end.
    [[nodiscard]] virtual bool is_given_up() const { return false; }
};
using WorkRef = std::shared_ptr<PendingWork>;

struct PendingLimits {
    std::uint64_t count = 1024;
    std::uint64_t bytes = UINT64_C(1) << 30U;  // of host memory
};

class PendingList {
  public:
    PendingList(PendingLimits limits, std::string device)
        : limits_(limits), device_(std::move(device)) {}

    // Adds work that is about to be submitted and owns `bytes`. Above a limit it waits for the
    // oldest work to end, until the deadline (TIMEOUT); with `at_once` it returns DEVICE_BUSY
    // instead. Work may exceed the limit of bytes if it is the only work.
    [[nodiscard]] Result<void> add(const WorkRef& work, std::uint64_t bytes, bool at_once,
                                   std::optional<Clock::time_point> deadline = {});
    // Removes work that has ended, or was not submitted.
    void remove(const PendingWork& work) noexcept;
    // Settles work that has ended. False if some has not ended.
    bool collect();
    void wait_for_all();

  private:
    struct Entry {
        WorkRef work;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] bool try_add(const WorkRef& work, std::uint64_t bytes);
    [[nodiscard]] WorkRef oldest();

    const PendingLimits limits_;
    const std::string device_;
    sdk::Mutex mutex_;
    std::deque<Entry> entries_ WYE_GUARDED_BY(mutex_);  // the oldest first
    std::uint64_t bytes_ WYE_GUARDED_BY(mutex_) = 0;
};

}  // namespace wye::exec
