// SPDX-License-Identifier: Apache-2.0
//
// Determines where a submit needs barriers: only between operations whose buffer ranges conflict.
// Pure; one thread.
//
// The validation layer does not find every missing barrier (quirk layer-missed-hazards).
//
// Two accesses conflict if their ranges overlap and at least one of them writes. A barrier orders
// everything before it before everything after it, so earlier accesses are dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wye::vulkan {

enum class Stage : std::uint8_t { Compute = 1, Transfer = 2 };

// The serial of a buffer that is not known yet: any of them.
inline constexpr std::uint64_t kAnyBuffer = UINT64_MAX;

// One range that an operation reads or writes. An empty range conflicts with nothing.
struct Access {
    std::uint64_t buffer = 0;  // its serial
    std::uint64_t offset = 0, size = 0;
    bool writes = false;
};

// The stages that must end, and become visible, before the next operation begins.
struct Barrier {
    bool after_compute = false;
    bool after_transfer = false;
    friend bool operator==(const Barrier&, const Barrier&) = default;
};

class BarrierPlanner {
  public:
    // The barrier needed before an operation with these accesses, or none. Call it in recording
    // order.
    [[nodiscard]] std::optional<Barrier> before(Stage stage, std::span<const Access> accesses);
    // Starts a new submit, which begins with a barrier against all earlier ones.
    void restart() { open_.clear(); }

  private:
    struct Open {
        Access access;
        Stage stage;
    };
    // Above this many unordered accesses a barrier costs less than comparing them all.
    static constexpr std::size_t kMostOpen = 512;

    [[nodiscard]] bool conflicts(std::span<const Access> accesses) const;

    std::vector<Open> open_;  // since the last barrier
};

}  // namespace wye::vulkan
