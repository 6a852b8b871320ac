// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a dispatch, one call for each stage:
//
//     resolve -> admit -> route -> own -> lower -> bind -> submit -> report
//
// Everything left of submit decides; a refusal there enters no driver (a program met for the first
// time on a device is compiled in `lower`, after every check). Free-threaded.
#pragma once

#include <cstdint>

#include "exec/context.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// `report` is written on success and for TRAPPED.
[[nodiscard]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                    wye_report& report);

// Admission only: `sizes` by argument, `groups` three words.
[[nodiscard]] Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc,
                                          std::uint64_t* sizes, std::uint32_t* groups);

}  // namespace wye::exec
