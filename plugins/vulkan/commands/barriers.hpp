// SPDX-License-Identifier: Apache-2.0
//
// Where one submit needs barriers: only between operations whose buffer ranges conflict. Pure; one
// thread.
//
// The validation layer does not see all that is missing here (quirk layer-missed-hazards).
//
// Two accesses conflict when their ranges overlap and at least one of them writes. A barrier makes
// everything before it visible to everything after it, so what it covers is forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wye::vulkan {

enum class Stage : std::uint8_t { Compute = 1, Transfer = 2 };

// One range that an operation reads or writes. An empty one conflicts with nothing.
struct Access {
    std::uint64_t buffer = 0;  // its serial
    std::uint64_t offset = 0, size = 0;
    bool writes = false;
};

// What has to end, and become visible, before the next operation begins.
struct Barrier {
    bool after_compute = false;
    bool after_transfer = false;
    friend bool operator==(const Barrier&, const Barrier&) = default;
};

class BarrierPlanner {
  public:
    // The barrier that belongs before an operation with these accesses, or none. Operations are
    // given in the order in which they are recorded.
    [[nodiscard]] std::optional<Barrier> before(Stage stage, std::span<const Access> accesses);
    // A new submit: it begins with a barrier against all earlier ones.
    void restart() { open_.clear(); }

  private:
    struct Open {
        Access access;
        Stage stage;
    };
    // Above this many unordered accesses a barrier costs less than looking at them all.
    static constexpr std::size_t kMostOpen = 512;

    [[nodiscard]] bool conflicts(std::span<const Access> accesses) const;

    std::vector<Open> open_;  // since the last barrier
};

}  // namespace wye::vulkan
