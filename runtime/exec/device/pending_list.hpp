// SPDX-License-Identifier: Apache-2.0
//
// PendingList: the asynchronous work in flight on a device, with limits on its number and on the
// host memory that it owns. Free-threaded; does not call work while it holds its lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  private:
    friend class PendingList;
    // Its place in the list, guarded by the list's mutex: the list's reference to it (null: it is
    // in none), its neighbours, and the bytes that it owns.
    std::shared_ptr<PendingWork> listed_;
    PendingWork *older_ = nullptr, *newer_ = nullptr;
    std::uint64_t bytes_ = 0;
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
    ~PendingList() {  // work refers to itself while it is in the list
        while (oldest_ != nullptr) remove(*oldest_);
    }
    PendingList(const PendingList&) = delete;
    PendingList& operator=(const PendingList&) = delete;

    // Adds work that is about to be submitted and owns `bytes`. Above a limit it waits for the
    // oldest work to end, until the deadline (TIMEOUT); with `at_once` it returns DEVICE_BUSY
    // instead. Work may exceed the limit of bytes if it is the only work.
    [[nodiscard]] Result<void> add(WorkRef work, std::uint64_t bytes, bool at_once,
                                   std::optional<Clock::time_point> deadline = {}) {
        if (bytes < kWorthAsking && try_add(work, bytes)) [[likely]]
            return {};
        return add_slowly(std::move(work), bytes, at_once, deadline);
    }
    // Removes work that has ended, or was not submitted.
    void remove(PendingWork& work) noexcept {
        WorkRef last;  // possibly the last reference; released after the lock
        const sdk::Lock lock(mutex_);
        if (work.listed_ == nullptr) return;
        (work.older_ != nullptr ? work.older_->newer_ : oldest_) = work.newer_;
        (work.newer_ != nullptr ? work.newer_->older_ : newest_) = work.older_;
        --count_;
        bytes_ -= work.bytes_;
        last = std::move(work.listed_);
    }
    // Settles work that has ended. False if some has not ended.
    bool collect();
    void wait_for_all();

  private:
    // From this size on, allocating memory takes longer than asking whether older work has ended.
    static constexpr std::uint64_t kWorthAsking = std::uint64_t{128} << 10U;

    [[nodiscard]] Result<void> add_slowly(WorkRef work, std::uint64_t bytes, bool at_once,
                                          std::optional<Clock::time_point> deadline);
    // Takes the reference on success.
    [[nodiscard]] bool try_add(WorkRef& work, std::uint64_t bytes) {
        const sdk::Lock lock(mutex_);
        const bool room = count_ < limits_.count &&
                          (count_ == 0 || bytes <= limits_.bytes - std::min(bytes_, limits_.bytes));
        if (!room) return false;
        PendingWork& one = *work;
        one.older_ = newest_;
        one.newer_ = nullptr;
        one.bytes_ = bytes;
        (newest_ != nullptr ? newest_->newer_ : oldest_) = &one;
        newest_ = &one;
        ++count_;
        bytes_ += bytes;
        one.listed_ = std::move(work);
        return true;
    }
    [[nodiscard]] WorkRef oldest();

    const PendingLimits limits_;
    const std::string device_;
    sdk::Mutex mutex_;
    PendingWork* oldest_ WYE_GUARDED_BY(mutex_) = nullptr;
    PendingWork* newest_ WYE_GUARDED_BY(mutex_) = nullptr;
    std::uint64_t count_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint64_t bytes_ WYE_GUARDED_BY(mutex_) = 0;
};

}  // namespace wye::exec
