// SPDX-License-Identifier: Apache-2.0
//
// Sample programs for trying plugins. `add`, in each artifact format, in workgroups of 64, with the
// bindings x (read) and r (read and written) and one parameter `by` of 4 bytes:
//
//   if (i < length of r) r[i] = x[i] + by
//
// `meet`, in formats of devices with GRID_SYNC, with the same arguments: each workgroup adds 1 to
// r[0], waits until r[0] is at least `by`, or for some seconds, and then stores in r[1 + its
// number] the last value that it read from r[0].
#pragma once

#include <optional>
#include <span>

#include "wye/abi.h"

namespace wye::sdk {

// The sample program in the first of `formats` that has it, in static memory; nothing: no format
// has it.
std::optional<wye_artifact> add_sample(std::span<const wye_string> formats);
std::optional<wye_artifact> meet_sample(std::span<const wye_string> formats);

}  // namespace wye::sdk
