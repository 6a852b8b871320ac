// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue, and the segments of those that are pending. A value is reached once its
// last segment has ended and its read-backs have been copied to the host's memory, which the
// waiting or polling thread does. All members may be called from any thread, except where said.
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
    static constexpr bool kWaitsWithLimit = true, kFinishIsCheapest = false, kFailsLate = false;

    // A driver that runs on the processor is not polled: its threads need the time.
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
