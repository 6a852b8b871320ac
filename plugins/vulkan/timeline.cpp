// SPDX-License-Identifier: Apache-2.0
#include "vulkan/timeline.hpp"

namespace wye::vulkan {

std::uint64_t Timeline::spin_ns(const Device& device) {
    return device.info.kind == "cpu" ? 0 : device.plugin.spin_ns;
}

Result<bool> Timeline::has_ended(const Submit& submit) { return segments.has_ended(submit.last); }

Result<SegmentWait> Timeline::event_of(Submit& submit) {
    return segments.share(submit.first, submit.last);
}

std::optional<Error> Timeline::settle(std::uint64_t, Submit& submit) {
    return segments.settle(submit.first, submit.last);
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    segments.collect(submit.last);
    return segments.times_of(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const SegmentWait& event, std::uint64_t timeout_ns) {
    return segments.await(event.number, timeout_ns);
}

Result<void> Timeline::finish() { return segments.finish(); }

}  // namespace wye::vulkan

template class wye::sdk::Timeline<wye::vulkan::Timeline, wye::vulkan::Submit,
                                  wye::vulkan::SegmentWait>;
