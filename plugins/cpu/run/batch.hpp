// SPDX-License-Identifier: Apache-2.0
//
// A submit that waits for its queue's thread, with copies of all that was borrowed for the call.
#pragma once

#include <vector>

#include "cpu/run/dispatch.hpp"

namespace wye::cpu {

class Timeline;

class Batch {
  public:
    static constexpr std::string_view kPlugin = "CPU";

    // Runs after `value` of another queue.
    void wait_for(Timeline& timeline, std::uint64_t value) { waits_.push_back({&timeline, value}); }
    [[nodiscard]] Result<void> keep(const wye_operation& operation);
    // The first operation goes on where the caller stopped, with the same worker.
    void go_on(const Handover& handover) { handover_ = handover; }

    // On the queue's thread. CANCELLED: it was told to stop.
    [[nodiscard]] Result<void> run(Worker& worker, Pool& pool, const Stop& stop);

  private:
    struct Wait {
        Timeline* timeline;
        std::uint64_t value;
    };
    Result<void> await(const Stop& stop) const;

    std::vector<Wait> waits_;
    std::vector<wye_operation> operations_;
    std::vector<std::vector<wye_binding>> bindings_;
    std::vector<std::vector<std::byte>> params_;
    std::optional<Handover> handover_;
};

}  // namespace wye::cpu
