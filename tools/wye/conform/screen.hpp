// SPDX-License-Identifier: Apache-2.0
//
// What `wye conform` prints for people: a line for each group, its failures below it, the verdict.
#pragma once

#include <cstdio>
#include <string>

#include "verdict.hpp"

namespace wye::tool::conform {

// The plugin's file and what the plugin says of itself.
[[nodiscard]] std::string heading_of(const Verdict& verdict);
// Lines about the device that the cases use, and about the other devices; empty: the plugin has no
// usable device.
[[nodiscard]] std::string device_line(const Verdict& verdict);
[[nodiscard]] std::string lines_of(const Group& group);

}  // namespace wye::tool::conform
