// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_bench/raw_api.hpp"

namespace wye::bench {

// Opens the hand-written side of a selector's device; `name`: the device's name as Wye prints it.
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw(const std::string& selector,
                                                       const std::string& name);

}  // namespace wye::bench
