// SPDX-License-Identifier: Apache-2.0
//
// States of the calling thread and its process on which no result may depend: rounding modes,
// flushed subnormals, exceptions that are not masked, the precision of x87; locales, small stacks,
// blocked signals, the file mode mask, the current folder, the environment, errno.
#pragma once

#include <functional>
#include <span>

namespace support {

struct CallerState {
    const char* name;
    // Calls `work` in this state, on this thread or another one, and puts the state back. False:
    // `work` changed what it was given of the state, or it could not be set.
    bool (*run)(const std::function<void()>& work);
};
// The name of the state with a file mode mask (umask) of 0777.
inline constexpr const char* kFileMask = "a file mode mask of 0777";

// The first one changes nothing. Other threads of the process must not run meanwhile, except those
// of drivers.
[[nodiscard]] std::span<const CallerState> caller_states();

}  // namespace support
