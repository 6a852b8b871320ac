// SPDX-License-Identifier: Apache-2.0
//
// Which native variant of a program, if any, stands in for its body on a device. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "registry/device.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::route {

// The index of the first variant whose format the device takes and whose filter covers it;
// ir::kNone when there is none. INVALID_ARGUMENT for a filter that is no selector. UNSUPPORTED for
// one that asks this device for properties (`name:*[f64]`): they are not evaluated yet, and a
// guess could run the wrong code.
[[nodiscard]] Result<std::uint32_t> choose_variant(const registry::DeviceInfo& device,
                                                   const ir::Program& program);

}  // namespace wye::route
