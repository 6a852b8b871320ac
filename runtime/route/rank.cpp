// SPDX-License-Identifier: Apache-2.0
#include "route/rank.hpp"

#include "route/route.hpp"

namespace wye::route {
namespace {

struct Kind {
    std::string_view name;  // a value of WYE_FACT_KEY_DEVICE_KIND
    std::uint32_t points;
};
constexpr Kind kKinds[] = {
    {"gpu", 400},
    {"accelerator", 300},
    {"cpu", 100},
};

// The bonus of a device that runs programs without a driver's compiler. The bonus is less than the
// difference between two kinds.
constexpr std::uint32_t kRunsPrograms = 50;

}  // namespace

registry::Score rank(const registry::DeviceInfo& device,
                     std::span<const std::string_view> formats) {
    registry::Score out;
    if (choose_format(device, formats).empty()) {  // most programs have no variant for this device
        out.reasons.emplace_back(device.formats.empty() ? "takes no programs"
                                                        : "runs native variants only");
        return out;
    }
    const std::string_view name = device.facts.text(WYE_FACT_KEY_DEVICE_KIND);
    for (const Kind& kind : kKinds)
        if (kind.name == name) out.points += kind.points;
    out.reasons.push_back(name.empty() ? "device of unknown kind" : std::string(name));
    if (!device.formats.empty() && device.formats.front() == WYE_FORMAT_PROGRAM) {
        out.points += kRunsPrograms;
        out.reasons.emplace_back("runs programs without a driver");
    }
    return out;
}

}  // namespace wye::route
