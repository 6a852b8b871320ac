// SPDX-License-Identifier: Apache-2.0
//
// The calls that run out of memory on a busy device.
#pragma once

#include <span>

#include "faults/busy_world.hpp"

namespace faults {

// What a call does to the elements of World::target.
enum class Effect : std::uint32_t {
    kNone,
    kAdds,        // adds Call::adds before it returns
    kSets,        // sets them to 1 before it returns
    kSubmitsAdd,  // as kAdds, by work that it submits
    kSubmitsSet,
    kWaits,  // returns the result of work in flight, which adds 1
};

struct Call {
    const char* name;
    Effect effect;
    std::uint32_t adds;
    // The device when the call is made. Busy: work is in flight on another queue. Behind: and, if
    // the place is a queue's thread, before the call's own work. Ends: the work ends meanwhile.
    enum State : std::uint32_t { kIdle, kBusy, kBehind, kEnds } state;
    // Prepares an idle device (may be null), then work in flight (may be null).
    bool (*prepare)(World&);
    bool (*submit)(World&);
    wye_status (*run)(World&, wye_error**);
    wye_status expected = WYE_OK;
    Expected before{};    // what the preparation added
    bool closes = false;  // the device or the context
};

std::span<const Call> all_calls();

}  // namespace faults
