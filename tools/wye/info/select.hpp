// SPDX-License-Identifier: Apache-2.0
//
// Narrows a saved report by a selector, with the library's grammar and rules. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

// The report with only those devices that the selector names. Errors: NO_DEVICE for an entry that
// names no device, with the nearest name that exists; those of the selector's grammar.
[[nodiscard]] Result<Report> selected(Report report, const std::string& selector);

}  // namespace wye::tool
