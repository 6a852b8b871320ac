// SPDX-License-Identifier: Apache-2.0
//
// Events of a stream, used again once nobody waits for them. [FREE].
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

    // An event at the end of what the stream has now. With the context current.
    [[nodiscard]] Result<EventRef> record();
    // From one event to another, both of a queue with timing; 0: the driver does not say.
    [[nodiscard]] std::uint64_t spent_ns(const EventRef& first, const EventRef& last) const;
    // To be used again, unless somebody still waits for it. Null: nothing.
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
