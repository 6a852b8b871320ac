// SPDX-License-Identifier: Apache-2.0
//
// Report: the catalogue as one JSON document. Keys, in this order: schema_version, host, filters,
// picks (the selector of the device that is chosen; null: none), order (the selectors of the
// devices, the preferred first), layers[name,version,path] (over every plugin, the first nearest to
// the host), plugins[id,name,path,abi,state,reason,...],
// devices[id,selector,physical_id,aliases,name,facts,formats,quirks,unmet,...], records,
// physical_devices, doubts (devices of contradictory identity), unmatched (entries of the selector
// that name nothing). Unknown values are null, sizes are integers in bytes, and arrays are sorted
// (plugins and devices by selector), so two reports of one machine are equal byte for byte, except
// for free memory. Bytes from plugins that are not UTF-8 are replaced.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/choose/capability.hpp"
#include "registry/choose/catalogue.hpp"
#include "registry/json.hpp"

namespace wye::registry {

struct ReportOptions {
    Selector selector;         // devices not named by it are left out, and their plugins not opened
    std::string host_version;  // of libwye
    std::optional<Requirements> needs;           // compared with each device, to fill its `unmet`
    std::map<std::string, std::string> filters;  // variables and flags in effect
    // Returns the ids of the host's driver workarounds for a device, in report order. Empty: the
    // report has null for them.
    std::function<std::vector<std::string_view>(const DeviceInfo&)> quirks;
    // Returns which operations of the language a device runs. Empty: the report has null for them.
    std::function<Json(const DeviceInfo&)> operations;
    bool explains = true;  // reports the sources of facts, and why facts are missing; else null
    int indent = 2;        // -1: one line
};

// Opens every plugin that the selector does not exclude. Never fails: the report lists failures.
[[nodiscard]] std::string report_json(Registry& registry, const ReportOptions& options);

// The verdicts of earlier probes, as a JSON array in search order: id, path, verdict (null: none),
// quarantined, times, slot, how, printed, made_unix_ns, took_ns, device_count. Opens no plugin.
[[nodiscard]] std::string verdicts_json(const Registry& registry);

}  // namespace wye::registry
