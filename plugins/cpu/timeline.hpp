// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue, and the batches of the pending ones, which the queue's thread
// ends. A value that the caller ran itself has ended when it is added. All members are
// free-threaded unless stated.
#pragma once

#include "cpu/device.hpp"
#include "cpu/run/batch.hpp"
#include "cpu/run/running.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cpu {

// The part of a submit that the queue's thread runs.
using Submit = std::shared_ptr<Batch>;

class Timeline : public sdk::Timeline<Timeline, Submit, Submit> {
  public:
    explicit Timeline(Device& device) : sdk::Timeline<Timeline, Submit, Submit>(device.loss) {}

    [[nodiscard]] bool idle() const { return log_.reached() == log_.newest(); }
    // Requests a stop of those values in [first, last] that were submitted.
    void cancel(std::uint64_t first, std::uint64_t last);

    Running running;

  private:
    friend sdk::Timeline<Timeline, Submit, Submit>;
    static constexpr bool kWaitsWithLimit = true, kFinishIsCheapest = false, kFailsLate = true;

    [[nodiscard]] Result<bool> has_ended(const Submit& submit);
    [[nodiscard]] Result<Submit> event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(const Submit& event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();
};

}  // namespace wye::cpu

extern template class wye::sdk::Timeline<wye::cpu::Timeline, wye::cpu::Submit, wye::cpu::Submit>;
