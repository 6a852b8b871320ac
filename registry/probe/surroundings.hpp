// SPDX-License-Identifier: Apache-2.0
//
// surroundings(): a text of what a driver may depend on besides its files: which parts of /proc,
// /sys and /dev exist and are accessible, the kernel, the devices, the processor, the process's
// limits, and the owner's bits of its file mode mask (umask). Processes with equal texts may share
// verdicts. One cache folder may serve different surroundings: a home folder may be shared with
// containers. Free-threaded; makes a few dozen system calls.
#pragma once

#include <optional>
#include <string>

namespace wye::registry {

[[nodiscard]] std::string surroundings();

// A limit of this process that is so low that a helper or a driver may fail because of it.
struct LowLimit {
    std::string text;  // "RLIMIT_AS at 586 MiB"
    std::string fix;   // "raise RLIMIT_AS (`ulimit -v`)"
};
[[nodiscard]] std::optional<LowLimit> low_limit();

}  // namespace wye::registry
