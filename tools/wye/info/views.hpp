// SPDX-License-Identifier: Apache-2.0
//
// The views of a report, one file each. Pure functions: the same report gives the same text,
// whether it is of this machine or from a file. Text that a plugin or a file brought is cleaned.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "document.hpp"
#include "text.hpp"

namespace wye::tool {

// Devices first, then what was passed over, one screen.
[[nodiscard]] std::string screen_view(const Report& report, const Style& style);

// A line for each usable device: selector, tab, name.
[[nodiscard]] std::string list_view(const Report& report);

// All that is known, and why the rest is not.
[[nodiscard]] std::string detail_view(const Report& report, const Style& style);

// One self-contained page of HTML that loads nothing.
[[nodiscard]] std::string page_view(const Report& report);

// A fact or member of each device, a line each. NOT_FOUND with the nearest names.
[[nodiscard]] Result<std::string> property_view(const Report& report, const std::string& name);

// The usable devices that have all properties of a list, as list_view; why the others do not. The
// list is what stands in the brackets of a selector (registry/property.hpp), as in
// "f64, memory>=8GiB". Errors: INVALID_ARGUMENT.
struct Required {
    std::string fitting;                // empty: no device
    std::vector<std::string> failures;  // "cpu:0: needs memory_bytes>=64GiB, has 8589934592"
};
[[nodiscard]] Result<Required> require_view(const Report& report, const std::string& expression);

// What differs between two machines, a line each; empty: nothing.
[[nodiscard]] std::string diff_view(const Report& before, const Report& after, const Style& style);

// Variables in effect, or with `all` every variable that matters.
[[nodiscard]] std::string environment_view(const Report& report, bool all, const Style& style);

// What to install or change, the most useful first.
struct Advice {
    std::string key;      // the same for the same fault in another report of the machine
    std::string subject;  // "plugin `cuda`"
    std::string problem;
    std::string fix;    // without "Fix: "
    std::string check;  // a command that succeeds once it helped
};
[[nodiscard]] std::vector<Advice> advice(const Report& report);
[[nodiscard]] std::string advice_view(const std::vector<Advice>& found, const Style& style);

// Which advice of an earlier report helped. `left` is the number that did not.
[[nodiscard]] std::string progress_view(const Report& before, const Report& now, const Style& style,
                                        std::size_t& left);

// The member of the report `environment` for these variables. `exists` says whether a path is
// there; `elevated`: the variables that the library then ignores have no effect.
using Variables = std::map<std::string, std::string>;
[[nodiscard]] Report environment_of(const Variables& variables, bool elevated,
                                    bool (*exists)(const std::string& path));

// The report without what identifies its owner: UUIDs, and each text of `secrets` (of the user and
// the host) where it stands as a word of its own, replaced by its second text. Folders under /home
// lose their owner.
using Secrets = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Report redacted(Report report, const Secrets& secrets);

}  // namespace wye::tool
