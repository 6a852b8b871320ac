// SPDX-License-Identifier: Apache-2.0
//
// The calls that are made on a busy device, while memory runs out.
#pragma once

#include <span>

#include "faults/busy_world.hpp"

namespace faults {

// What a call does to each element of World::target.
enum class Effect : std::uint32_t {
    kNone,
    kAdds,        // the call adds Call::adds before it returns
    kSets,        // the call sets the elements to 1 before it returns
    kSubmitsAdd,  // work that the call submits adds Call::adds
    kSubmitsSet,
    kWaits,  // returns the result of pending work, which adds 1
};

struct Call {
    const char* name;
    Effect effect;
    std::uint32_t adds;
    // The device when the call is made. kBusy: work is pending on another queue. kBehind: as kBusy,
    // and if the place is a queue's thread, other work is pending there before the call's work.
    // kEnds: the pending work ends while the call runs.
    enum State : std::uint32_t { kIdle, kBusy, kBehind, kEnds } state;
    // `prepare` is called on the idle device, then `submit` makes pending work. Either may be null.
    bool (*prepare)(World&);
    bool (*submit)(World&);
    wye_status (*run)(World&, wye_error**);
    wye_status expected = WYE_OK;
    Expected before{};    // what `prepare` has added
    bool closes = false;  // the call closes the device or the context
};

std::span<const Call> all_calls();

}  // namespace faults
