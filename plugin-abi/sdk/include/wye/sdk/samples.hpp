// SPDX-License-Identifier: Apache-2.0
//
// For those who try plugins: one small program in each artifact format, `add`, in workgroups of 64,
// with bindings x (read) and r (read and written) and one parameter of 4 bytes:
//
//   if (i < length of r) r[i] = x[i] + by
//
// and `meet`, for formats of devices with GRID_SYNC, with the same arguments: each workgroup adds 1
// to r[0], waits until that is at least `by`, or for some seconds, and stores what it saw in r[1 +
// its number].
#pragma once

#include <optional>
#include <span>

#include "wye/abi.h"

namespace wye::sdk {

// The sample in the first of `formats` that this file has; static memory.
std::optional<wye_artifact> add_sample(std::span<const wye_string> formats);
std::optional<wye_artifact> meet_sample(std::span<const wye_string> formats);

}  // namespace wye::sdk
