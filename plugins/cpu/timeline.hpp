// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue, ended by whoever ran the work: the caller, or the queue's thread. All
// members may be called from any thread, except where said.
#pragma once

#include <condition_variable>

#include "cpu/device.hpp"
#include "cpu/run/run.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cpu {

class Timeline : public sdk::Timeline<Timeline> {
  public:
    Timeline(Device& device, bool timing) : sdk::Timeline<Timeline>(device.loss, timing) {}

    // By the submitting thread: the next value.
    std::uint64_t add() { return log_.add(); }
    [[nodiscard]] bool idle() const { return log_.reached() == log_.newest(); }
    // By whoever ran it: `value` has ended, well or by an error.
    void end(std::uint64_t value, std::uint64_t spent_ns);
    void fail(std::uint64_t value, Error error);

    [[nodiscard]] Result<bool> ended(std::uint64_t value);
    [[nodiscard]] Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns);
    // What was submitted up to `value` is to stop.
    void cancel(std::uint64_t value);
    [[nodiscard]] Stop stop(std::uint64_t value) const { return {&cancelled_, value}; }

  private:
    std::atomic<std::uint64_t> cancelled_{0};

    sdk::Mutex mutex_;
    std::condition_variable changed_;  // a value has ended
};

}  // namespace wye::cpu

extern template class wye::sdk::Timeline<wye::cpu::Timeline>;
