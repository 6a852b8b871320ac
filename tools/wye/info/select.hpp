// SPDX-License-Identifier: Apache-2.0
//
// Narrows a saved report by a selector, with the library's grammar and rules. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

// Returns the report with only the devices that the selector names. Errors: those of the selector's
// grammar; NO_DEVICE, with the nearest existing name, for an entry that names no device.
[[nodiscard]] Result<Report> selected(Report report, const std::string& selector);

}  // namespace wye::tool
