// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue, and the segments of its pending submits. A value is reached once
// the last segment of its submit has ended, and the thread that waits or polls has copied the
// submit's read-backs to host memory. All members are free-threaded unless stated.
#pragma once

#include "vulkan/commands/submission.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::vulkan {

class Timeline : public sdk::Timeline<Timeline, Submit, SegmentWait> {
  public:
    Timeline(Device& device, SharedQueue& queue, SemaphoreHandle handle, bool for_transfers)
        : sdk::Timeline<Timeline, Submit, SegmentWait>(device.loss, spin_ns(device)),
          segments(device, queue, std::move(handle), for_transfers) {}

    Segments segments;

  private:
    friend sdk::Timeline<Timeline, Submit, SegmentWait>;
    static constexpr bool kWaitsWithLimit = true, kFailsLate = true;

    // How long a wait polls before it blocks. 0 for a driver that runs on the processor, since the
    // driver's threads need the processor.
    [[nodiscard]] static std::uint64_t spin_ns(const Device& device);
    [[nodiscard]] Result<bool> has_ended(const Submit& submit);
    [[nodiscard]] Result<SegmentWait> event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(const SegmentWait& event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();
};

}  // namespace wye::vulkan

extern template class wye::sdk::Timeline<wye::vulkan::Timeline, wye::vulkan::Submit,
                                         wye::vulkan::SegmentWait>;
