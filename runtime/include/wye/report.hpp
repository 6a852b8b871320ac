// SPDX-License-Identifier: Apache-2.0
//
// C++ over wye/report.h: the plugins and devices of a context, and why others were passed over.
//
//   if (const auto found = wye::load_report(context); found.ok())
//       for (const wye_load_device& device : found->devices) ...
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "wye/report.h"
#include "wye/wye.hpp"

namespace wye {

// Plugins, devices and faults that were found. Strings live as long as any copy of `owner`.
struct LoadReport {
    std::vector<wye_load_plugin> plugins;
    std::vector<wye_load_device> devices;
    std::vector<wye_load_record> records;
    std::vector<wye_load_unmatched> unmatched;
    std::vector<std::vector<wye_load_alias>> aliases;  // of each device
    std::shared_ptr<const wye_load_report> owner;
};

// Opens every plugin that the selector does not exclude; empty: none is excluded.
[[nodiscard]] inline Result<LoadReport> load_report(const Context& context,
                                                    std::string_view selector = {}) {
    wye_load_report* raw = nullptr;
    WYE_TRY(detail::call([&](wye_error** e) {
        return wye_load_report_create(context.get(), detail::borrow(selector), &raw, e);
    }));
    LoadReport out;
    out.owner = std::shared_ptr<const wye_load_report>(raw, [](const wye_load_report* report) {
        wye_load_report_free(const_cast<wye_load_report*>(report));
    });
    const auto read = [&](auto& list, auto next, auto item) {
        WYE_INIT(item);
        while (next(raw, list.size(), &item, nullptr) == WYE_OK) list.push_back(item);
    };
    read(out.plugins, &wye_load_report_plugin, wye_load_plugin{});
    read(out.devices, &wye_load_report_device, wye_load_device{});
    read(out.records, &wye_load_report_record, wye_load_record{});
    read(out.unmatched, &wye_load_report_unmatched, wye_load_unmatched{});
    for (std::size_t i = 0; i < out.devices.size(); ++i)
        read(
            out.aliases.emplace_back(),
            [i](const wye_load_report* from, std::uint64_t index, wye_load_alias* item,
                wye_error** error) { return wye_load_report_alias(from, i, index, item, error); },
            wye_load_alias{});
    return out;
}

}  // namespace wye
