// SPDX-License-Identifier: Apache-2.0
//
// surroundings(): a text of what a driver may depend on besides its files: which parts of /proc,
// /sys and /dev exist and are accessible, the kernel, the devices, the processor, the process's
// limits, and what its file mode mask takes from the owner. Processes with equal texts may share
// verdicts. One cache folder may serve different surroundings: a home folder may be shared with
// containers. Free-threaded; makes a few dozen system calls.
#pragma once

#include <string>

namespace wye::registry {

[[nodiscard]] std::string surroundings();

}  // namespace wye::registry
