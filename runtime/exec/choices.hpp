// SPDX-License-Identifier: Apache-2.0
//
// Choices: the devices that were chosen for requests that name no device, and the reasons. A choice
// is remembered, so that an equal request gets the same device. The newest choices are kept with
// their reasons for wye_choice_find. The code in dispatch/choose.hpp makes the choices, and checks
// whether a remembered device can still be used. Owned by a context. Free-threaded; takes no other
// lock while it holds its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/launch.hpp"
#include "registry/choose/catalogue.hpp"
#include "registry/hold/ownership.hpp"
#include "route/route.hpp"
#include "wye/device.h"
#include "wye/sdk/mutex.hpp"

namespace wye::exec {

// The device of a request, and who named it.
struct Routed {
    registry::Handle device = 0;
    std::uint32_t by = WYE_ROUTED_NAMED;  // enum wye_routed
    std::uint32_t choice = 0;             // the number of the choice; 0: none

    // Writes these values to a report or a description.
    template <typename T>
    void write(T& out) const {
        out.device = device;
        out.routed = by;
        out.choice = choice;
    }
};

// Why a device was chosen. Immutable.
struct Choice {
    std::uint32_t number = 0;
    std::string selector, reason;
    std::vector<registry::PassedOver> passed_over;
};
using ChoiceRef = std::shared_ptr<const Choice>;

class Choices {
  public:
    static constexpr std::size_t kMostKept = 256;

    // What a choice depends on, apart from the sizes of the launch.
    struct Key {
        registry::Handle program = 0;  // never reused
        plan::Count3 workgroup = {};
        bool cooperative = false, variants = false;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Sizes {
        route::LaunchBytes bytes;
        plan::Count3 groups = {};
        friend bool operator==(const Sizes&, const Sizes&) = default;
    };
    struct Known {
        Key key;
        Sizes sizes;                // the newest sizes that were found to fit the device
        bool sized = false;         // `sizes` ruled out a device: valid for `sizes` only
        std::uint64_t changes = 0;  // Context::device_changes() when the choice was made
        registry::Handle device = 0;
        std::uint32_t number = 0;  // 0: this entry is empty
    };

    // Returns the remembered choice for these sizes, or else a choice that does not depend on
    // sizes.
    [[nodiscard]] std::optional<Known> find(const Key& key, const Sizes& sizes) const;
    // Remembers a choice, and forgets the previous choice for equal requests.
    void remember(const Known& known);
    // Gives a new choice the next number, keeps the choice, and returns the number.
    [[nodiscard]] std::uint32_t keep(Choice choice);
    // Null: no choice has this number, or it is no longer kept.
    [[nodiscard]] ChoiceRef at(std::uint32_t number) const;

  private:
    static constexpr std::size_t kGroups = kMostKept / 4, kPlaces = 4;
    using Group = std::array<Known, kPlaces>;
    [[nodiscard]] static std::size_t group_of(const Key& key) { return key.program % kGroups; }

    mutable sdk::Mutex mutex_;
    std::array<Group, kGroups> known_ WYE_GUARDED_BY(mutex_);
    std::deque<ChoiceRef> kept_ WYE_GUARDED_BY(mutex_);  // ascending by number
    std::uint32_t last_ WYE_GUARDED_BY(mutex_) = 0;
};

}  // namespace wye::exec
