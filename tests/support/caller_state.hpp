// SPDX-License-Identifier: Apache-2.0
//
// States of the calling thread and of its process that must not affect any result: rounding modes,
// flushed subnormals, unmasked floating-point exceptions, the precision of the x87 unit, locales,
// small stacks, blocked signals, the file mode mask, the current folder, the environment, errno.
#pragma once

#include <functional>
#include <span>

namespace support {

struct CallerState {
    const char* name;
    // Calls `work` in this state, on this thread or on a new one, and then restores the old state.
    // False: `work` changed the state, or the state could not be set.
    bool (*run)(const std::function<void()>& work);
};
// The name of the state with a file mode mask (umask) of 0777.
inline constexpr const char* kFileMask = "a file mode mask of 0777";

// All states; the first one changes nothing. Other threads of the process must not run meanwhile,
// except those of drivers.
[[nodiscard]] std::span<const CallerState> caller_states();

}  // namespace support
