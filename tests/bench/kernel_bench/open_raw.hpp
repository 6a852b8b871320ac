// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_bench/raw_api.hpp"

namespace wye::bench {

// Opens the selector's device for the hand-written side. `name`: the device's name as Wye prints
// it.
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw(const std::string& selector,
                                                       const std::string& name);

}  // namespace wye::bench
