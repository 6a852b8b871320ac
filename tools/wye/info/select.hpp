// SPDX-License-Identifier: Apache-2.0
//
// Narrows a saved report, as the library does with a live one. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

// The report with those devices only that the selector names: by plugin, selector, id or @id,
// `auto` or `*`, in a list, with `-` to discard. NO_DEVICE for an entry that names none, with the
// nearest that exists. INVALID_ARGUMENT for forms that need the library (properties, parts of
// names).
[[nodiscard]] Result<Report> selected(Report report, const std::string& selector);

}  // namespace wye::tool
