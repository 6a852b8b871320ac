// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue and the OpenCL events behind the newest of them. Waiting for the newest
// value is clFinish, which is the cheapest wait of every driver; events serve the other cases.
// All members may be called from any thread, except where said.
#pragma once

#include <array>

#include "opencl/device.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::opencl {

class Timeline : public sdk::Timeline<Timeline> {
  public:
    Timeline(Device& device, cl_command_queue queue, bool timing)
        : sdk::Timeline<Timeline>(device.loss, timing), device_(device), queue_(queue) {}

    // By the submitting thread: the next value, reached when `last` has ended. `first` is for
    // times, and may be empty.
    std::uint64_t add(EventHandle first, EventHandle last);

    // An event that is reached no earlier than `value`, retained for the caller; empty: reached.
    [[nodiscard]] Result<EventHandle> event_for(std::uint64_t value);
    [[nodiscard]] Result<bool> ended(std::uint64_t value);
    [[nodiscard]] Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns);

  private:
    struct Entry {
        EventHandle first, last;
    };
    static constexpr std::uint64_t kKept = 256;

    void collect(std::uint64_t value) WYE_REQUIRES(mutex_);
    Entry& entry(std::uint64_t value) WYE_REQUIRES(mutex_) { return entries_[value % kKept]; }
    // Of the values whose entries are there.
    [[nodiscard]] std::uint64_t oldest() const;
    [[nodiscard]] std::uint64_t spent_ns(const Entry& ended) const;
    // What was not reached by now fails; `value` among it.
    Error failed(std::uint64_t value, Error error) WYE_EXCLUDES(mutex_);

    Device& device_;
    const cl_command_queue queue_;

    sdk::Mutex mutex_;
    // Of the newest values, each at its value modulo kKept; empty once it was reached.
    std::array<Entry, kKept> entries_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::opencl

extern template class wye::sdk::Timeline<wye::opencl::Timeline>;
