// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry/choose/selector.hpp"
#include "registry/open/device.hpp"
#include "saved_facts.hpp"
#include "views.hpp"

namespace wye::tool {

Result<Required> require_view(const Report& report, const std::string& expression) {
    WYE_ASSIGN(const registry::Selector all,
               registry::parse_selector(fmt::format("*[{}]", expression)));
    if (all.entries.size() != 1)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`--require {}` closes its bracket", clean(expression)),
                     "Fix: write properties only, as in --require 'f64, memory>=8GiB, kind=gpu'",
                     "--require");
    Required out;
    Report fitting = {{"devices", Report::array()}};
    for (const Report& device : items(report, "devices")) {
        std::vector<std::string> against;
        if (!usable(device)) against.push_back("unusable: " + text(device, "reason"));
        const registry::Facts facts = facts_of(device);
        for (const registry::Property& property : all.entries.front().properties)
            if (!property.fits(facts)) against.push_back(why_not(property, facts));
        if (against.empty()) {
            fitting["devices"].push_back(device);
        } else {
            out.failures.push_back(
                clean(fmt::format("{}: {}", text(device, "selector"), fmt::join(against, "; "))));
        }
    }
    out.fitting = list_view(fitting);
    return out;
}

}  // namespace wye::tool
