// SPDX-License-Identifier: Apache-2.0
//
// surroundings(): what of this process's machine, container and limits a driver may depend on
// besides its files, as a text that is equal where a verdict may be shared: which parts of /proc,
// /sys and /dev are there and accessible, the kernel and its drivers, the processor, the process's
// limits, and what its file mode mask takes from the owner. One cache folder may serve several of
// them, as that of a home folder which is shared with containers. Free-threaded; a few dozen system
// calls.
#pragma once

#include <string>

namespace wye::registry {

[[nodiscard]] std::string surroundings();

}  // namespace wye::registry
