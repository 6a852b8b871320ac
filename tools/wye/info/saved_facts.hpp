// SPDX-License-Identifier: Apache-2.0
//
// The facts of a saved device as the registry's values, so that its comparisons and selectors work
// on saved machines too. Pure.
#pragma once

#include <optional>

#include "document.hpp"
#include "registry/facts.hpp"

namespace wye::tool {

// As the type of the header (enum wye_fact_type); nullopt: not reported, or of another type.
[[nodiscard]] std::optional<registry::FactValue> fact_of(const Report& value, std::uint32_t type);

[[nodiscard]] registry::Facts facts_of(const Report& device);

}  // namespace wye::tool
