// SPDX-License-Identifier: Apache-2.0
//
// BarrierPlanner: determines where a submit needs barriers: only between operations whose buffer
// ranges conflict. Pure; one thread.
//
// The validation layer does not find every missing barrier (quirk layer-missed-hazards), so the
// planner has tests of its own.
//
// Two accesses conflict if their ranges overlap and at least one of them writes. A barrier orders
// all earlier operations before all later ones, so it ends the tracking of earlier accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wye::vulkan {

enum class Stage : std::uint8_t { Compute = 1, Transfer = 2 };

// The serial of a buffer that is not known yet. Conflicts with every buffer.
inline constexpr std::uint64_t kAnyBuffer = UINT64_MAX;

// One range that an operation reads or writes. An empty range conflicts with nothing.
struct Access {
    std::uint64_t buffer = 0;  // the buffer's serial
    std::uint64_t offset = 0, size = 0;
    bool writes = false;
};

// The stages that must end, and whose writes must become visible, before the next operation begins.
struct Barrier {
    bool after_compute = false;
    bool after_transfer = false;
    friend bool operator==(const Barrier&, const Barrier&) = default;
};

class BarrierPlanner {
  public:
    // Returns the barrier needed before an operation with these accesses, or none. To be called in
    // recording order.
    [[nodiscard]] std::optional<Barrier> before(Stage stage, std::span<const Access> accesses);
    // Starts a new submit, which begins with a barrier against all earlier submits.
    void restart() { open_.clear(); }

  private:
    struct Open {
        Access access;
        Stage stage;
    };
    // With more unordered accesses than this, a barrier costs less than comparing them all.
    static constexpr std::size_t kMostOpen = 512;

    [[nodiscard]] bool conflicts(std::span<const Access> accesses) const;

    std::vector<Open> open_;  // accesses since the last barrier
};

}  // namespace wye::vulkan
