// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_bench/raw_api.hpp"

namespace wye::bench {

// The hand-written side of what a selector names; `name`: the device's, as Wye prints it.
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw(const std::string& selector,
                                                       const std::string& name);

}  // namespace wye::bench
