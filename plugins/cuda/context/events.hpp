// SPDX-License-Identifier: Apache-2.0
//
// Events of a stream, reused once nothing waits for them. [FREE].
#pragma once

#include <memory>
#include <vector>

#include "cuda/device.hpp"

namespace wye::cuda {

using EventRef = std::shared_ptr<EventHandle>;

class Events {
  public:
    Events(Device& device, CUstream stream, bool timing)
        : device_(device), stream_(stream), timing_(timing) {}

    // Records an event after all work queued so far. The context must be current.
    [[nodiscard]] Result<EventRef> record();
    // Time between two events of a queue with timing; 0: not reported.
    [[nodiscard]] std::uint64_t spent_ns(const EventRef& first, const EventRef& last) const;
    // Returns an event for reuse, unless something still waits for it. May be null.
    void give_back(EventRef event);

  private:
    [[nodiscard]] EventRef take();

    Device& device_;
    const CUstream stream_;
    const bool timing_;

    sdk::Mutex mutex_;
    std::vector<EventRef> free_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::cuda
