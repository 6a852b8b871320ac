// SPDX-License-Identifier: Apache-2.0
//
// Narrows a saved report by a selector, in the library's grammar, as the library does with a live
// one. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

// The report with those devices only that the selector names. Errors: NO_DEVICE for an entry that
// names none, with the nearest that exists; those of the grammar.
[[nodiscard]] Result<Report> selected(Report report, const std::string& selector);

}  // namespace wye::tool
