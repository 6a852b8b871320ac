// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue. A submit that is waited for before the next one costs no event: the stream
// itself is asked. Only when another submit comes, or another queue waits, an event marks the end
// of the newest one. Small downloads arrive in staging memory and are handed over by whoever sees
// that their value is reached. All members may be called from any thread, except where said.
#pragma once

#include <deque>
#include <vector>

#include "cuda/context/marks.hpp"
#include "cuda/context/staging.hpp"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cuda {

class Timeline : public sdk::Timeline<Timeline> {
  public:
    Timeline(Device& device, CUstream stream, bool timing)
        : sdk::Timeline<Timeline>(device.loss, timing),
          device_(device),
          context_(device.context()),
          stream_(stream),
          marks_(device, stream, timing),
          staging_(context_) {}

    // By the submitting thread, with the context current: before the first operation of a submit...
    [[nodiscard]] Result<void> begin();
    // ...for each small transfer (null: go without), ...
    [[nodiscard]] std::byte* stage(std::uint64_t size);
    void deliver(const sdk::HostCopy& copy);
    // ...and at the end: the next value, reached when the stream has come so far, or nothing.
    [[nodiscard]] Result<std::uint64_t> add();
    void abandon();

    // An event that is reached no earlier than `value`; null: reached. With the context current.
    [[nodiscard]] Result<EventRef> event_for(std::uint64_t value);
    [[nodiscard]] Result<bool> ended(std::uint64_t value);
    [[nodiscard]] Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns);

  private:
    struct Deliveries {
        std::uint64_t value;
        std::vector<sdk::HostCopy> copies;
    };

    void collect(std::uint64_t value) WYE_REQUIRES(mutex_);
    [[nodiscard]] bool query(std::uint64_t value) WYE_REQUIRES(mutex_);
    [[nodiscard]] std::uint64_t spent_ns(const Mark& ended) const;

    Device& device_;
    const Context& context_;
    const CUstream stream_;

    sdk::Mutex mutex_;
    Marks marks_ WYE_GUARDED_BY(mutex_);
    Staging staging_ WYE_GUARDED_BY(mutex_);
    std::deque<Deliveries> deliveries_ WYE_GUARDED_BY(mutex_);  // ascending values
    EventRef first_ WYE_GUARDED_BY(mutex_);                     // of the submit being made
    std::vector<sdk::HostCopy> copies_ WYE_GUARDED_BY(mutex_);  // likewise
};

}  // namespace wye::cuda

extern template class wye::sdk::Timeline<wye::cuda::Timeline>;
