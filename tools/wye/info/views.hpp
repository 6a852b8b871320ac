// SPDX-License-Identifier: Apache-2.0
//
// The views of a report. Each view has a source file. Pure functions: the same report gives the
// same text, whether it is of this machine or from a file. Text from plugins and files is cleaned.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document.hpp"
#include "text.hpp"

namespace wye::tool {

// One screen: the devices first, then the plugins that are not used, then warnings and settings.
[[nodiscard]] std::string screen_view(const Report& report, const Style& style);

// The vendor, such as "NVIDIA", whose devices a failed plugin needs and this machine lacks. Empty:
// the plugin works or is for any hardware, this machine has such a device, or the report does not
// list the hardware.
[[nodiscard]] std::string absent_vendor(const Report& report, const Report& plugin);

// The state of a plugin, or "not applicable: ..." if its vendor is absent.
[[nodiscard]] std::string state_text(const Report& report, const Report& plugin);
// The severity of a record: "note" if its plugin is not applicable.
[[nodiscard]] std::string severity_text(const Report& report, const Report& record);
// The message of a record or a reason, with the text of the system's loader.
[[nodiscard]] std::string cause_text(const Report& record);
// What can be done about a record or a reason, and by whom.
[[nodiscard]] std::string remedy(const Report& report, const Report& record);

// The selector by which a report was made; empty: not known.
[[nodiscard]] std::string selector_text(const Report& report);
// Whether the report's selector is the value of WYE_DEVICE.
[[nodiscard]] bool is_from_variable(const Report& report);
// The error NO_DEVICE if the selector names no usable device, or has an entry that names nothing.
[[nodiscard]] std::optional<Error> no_device(const Report& report);

// One line per usable device: selector, tab, name.
[[nodiscard]] std::string list_view(const Report& report);

// All known facts, and why the other facts are unknown.
[[nodiscard]] std::string detail_view(const Report& report, const Style& style);

// A self-contained HTML page that loads nothing.
[[nodiscard]] std::string page_view(const Report& report);

// A fact or member of each device, one per line. `named`: the line begins with the device's
// selector and a tab. INVALID_ARGUMENT lists the nearest names.
[[nodiscard]] Result<std::string> property_view(const Report& report, const std::string& name,
                                                bool named);

// The usable devices that have all properties of a list, in the format of list_view, and why the
// other devices do not fit. The list has the syntax of a selector's brackets
// (registry/choose/property.hpp), as in "f64, memory>=8GiB". Errors: INVALID_ARGUMENT.
struct Required {
    std::string fitting;                // empty: no device
    std::vector<std::string> failures;  // "cpu:0: needs memory_bytes>=64GiB, has 8589934592"
};
[[nodiscard]] Result<Required> require_view(const Report& report, const std::string& expression);

// The differences between two machines, one per line; empty: none.
[[nodiscard]] std::string diff_view(const Report& before, const Report& after, const Style& style);

// The environment variables in effect; with `all`, every variable that Wye or a driver may read.
[[nodiscard]] std::string environment_view(const Report& report, bool all, const Style& style);

// What to install or change, the most useful advice first.
struct Advice {
    std::string key;      // identifies the fault: equal in a later report
    std::string subject;  // "plugin `cuda`"
    std::string problem;
    std::string fix;    // without "Fix: "
    std::string check;  // a command that succeeds after the fix
};
[[nodiscard]] std::vector<Advice> advice(const Report& report);
// Also names the plugins whose hardware is absent, for which there is no advice.
[[nodiscard]] std::string advice_view(const Report& report, const std::vector<Advice>& found,
                                      const Style& style);

// Which advice of an earlier report has worked. Sets `left` to the number of faults that remain or
// are new.
[[nodiscard]] std::string progress_view(const Report& before, const Report& now, const Style& style,
                                        std::size_t& left);

// The report's member `environment` for these variables. `exists` tests whether a path exists.
// `elevated`: the process has raised privileges. The library then ignores some variables, which are
// reported as without effect.
using Variables = std::map<std::string, std::string>;
[[nodiscard]] Report environment_of(const Variables& variables, bool elevated,
                                    bool (*exists)(const std::string& path));

// The report without texts that identify its owner. Replaces UUIDs, and the owners' names in paths
// under /home. In each pair of `secrets`, the first text is a name of the user or the host;
// wherever this name is a whole word, replaces it by the second text.
constexpr std::string_view kRedacted = "redacted";  // the value of a redacted fact
using Secrets = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Report redacted(Report report, const Secrets& secrets);

}  // namespace wye::tool
