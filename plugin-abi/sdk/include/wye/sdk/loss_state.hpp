// SPDX-License-Identifier: Apache-2.0
//
// LossState: whether a device is lost, the error that caused the loss, and the device's queues.
// Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::sdk {

class LossState {
  public:
    [[nodiscard]] bool lost() const { return lost_.load(std::memory_order_acquire); }
    // DEVICE_LOST, caused by the error that lost the device; nothing if the device is not lost.
    [[nodiscard]] std::optional<Error> error() const {
        if (!lost()) return std::nullopt;
        const Lock lock(mutex_);
        return error_;
    }
    // As `error`, but a brief error if there is no memory for a copy.
    [[nodiscard]] std::optional<Error> error_or_brief() const noexcept {
        if (!lost()) return std::nullopt;
        const Lock lock(mutex_);
        if (!error_) return std::nullopt;  // recovered meanwhile
        const Error& error = *error_;
        return errors::made_or_brief(Code::DEVICE_LOST, [&] { return error; });
    }
    [[nodiscard]] Result<void> check() const {
        if (auto loss = error()) return *std::move(loss);
        return {};
    }

    // Marks the device as lost by `error`. The first error counts.
    void record(const Error& error) {
        const Lock lock(mutex_);
        if (error_) return;
        error_ = error;
        error_->code = Code::DEVICE_LOST;
        lost_.store(true, std::memory_order_release);
    }
    // Marks the device as recovered.
    void clear() {
        const Lock lock(mutex_);
        error_.reset();
        lost_.store(false, std::memory_order_release);
    }

    // The queues that the device has, for the extension wye.loss.
    void add_queue(void* queue) {
        const Lock lock(queues_mutex_);
        queues_.push_back(queue);
    }
    void remove_queue(void* queue) {
        const Lock lock(queues_mutex_);
        queues_.erase(std::remove(queues_.begin(), queues_.end(), queue), queues_.end());
    }
    // Calls `visit` for each queue, none of which is destroyed meanwhile.
    template <typename Visit>
    void visit_queues(Visit&& visit) {
        const Lock lock(queues_mutex_);
        for (void* queue : queues_) visit(queue);
    }

  private:
    std::atomic<bool> lost_{false};
    mutable Mutex mutex_;
    std::optional<Error> error_ WYE_GUARDED_BY(mutex_);
    Mutex queues_mutex_;
    std::vector<void*> queues_ WYE_GUARDED_BY(queues_mutex_);
};

}  // namespace wye::sdk
