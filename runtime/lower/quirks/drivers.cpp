// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/drivers.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::uint32_t driver_bits(const DriverIdentity& device) {
    std::uint32_t out = 0;
    if (device.platform.starts_with("NVIDIA")) out |= kDriverNvidia;
    if (device.platform == "llvmpipe") out |= kDriverLlvmpipe;
    if (device.driver.starts_with("Mesa ")) out |= kDriverMesa;
    if (holds(device.platform, "Portable Computing Language")) out |= kDriverPocl;
    return out;
}

std::uint32_t driver_version(std::string_view text) {
    const auto number = [&] {
        std::uint32_t out = 0;
        for (; !text.empty() && digit(text.front()); text.remove_prefix(1))
            out = std::min(out * 10 + static_cast<std::uint32_t>(text.front() - '0'), 999'999U);
        return out;
    };
    while (!text.empty() && !digit(text.front())) text.remove_prefix(1);
    const std::uint32_t major = number();
    if (!text.starts_with('.')) return major * 1000;
    text.remove_prefix(1);
    return major * 1000 + std::min(number(), 999U);
}

QuirkSet quirks_of(const DriverIdentity& device) {
    const std::uint32_t drivers = driver_bits(device);
    const std::uint32_t version = driver_version(device.driver);
    QuirkSet out;
    if ((drivers & kTestedDrivers) == 0) out = QuirkSet::of_unknown_driver(device.whole_workgroups);
    for (const QuirkEntry& entry : quirk_entries())
        if (entry.found == QuirkEntry::Found::Driver && (entry.drivers & drivers) != 0 &&
            entry.first_version <= version && version <= entry.last_version)
            out.set(entry.id);
    out.set(Quirk::MesaLiteralZero, device.folds_literal_zero);
    return out;
}

}  // namespace wye::lower
