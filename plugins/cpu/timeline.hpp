// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue, and the batches of the pending ones, which the queue's thread
// ends. A value that the caller ran itself has ended when it is added. It refers to a batch until
// the batch's value is settled. All members are free-threaded unless stated.
#pragma once

#include "cpu/device.hpp"
#include "cpu/run/batch.hpp"
#include "cpu/run/progress.hpp"
#include "cpu/run/running.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cpu {

// The part of a submit that the queue's thread runs, and its value; 0: none.
using Submit = Batch*;
using Event = std::uint64_t;

class Timeline : public sdk::Timeline<Timeline, Submit, Event> {
  public:
    explicit Timeline(Device& device) : sdk::Timeline<Timeline, Submit, Event>(device.loss) {}

    [[nodiscard]] bool idle() const { return log_.reached() == log_.newest(); }
    // Requests a stop of those values in [first, last] that were submitted.
    void cancel(std::uint64_t first, std::uint64_t last);

    Running running;
    Progress progress;  // of the batches

  private:
    friend sdk::Timeline<Timeline, Submit, Event>;
    static constexpr bool kWaitsWithLimit = true, kFinishIsCheapest = false, kFailsLate = true;

    [[nodiscard]] Result<bool> has_ended(const Submit& submit);
    [[nodiscard]] Result<Event> event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(Event event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();
};

}  // namespace wye::cpu

extern template class wye::sdk::Timeline<wye::cpu::Timeline, wye::cpu::Submit, wye::cpu::Event>;
