// SPDX-License-Identifier: Apache-2.0
// Fuzz target: selectors. The printed text of an accepted selector must be accepted, print the same
// text, and select the same devices. A plugin with a selected device must not be excluded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "registry/choose/selector.hpp"
#include "registry/open/device.hpp"

using namespace wye::registry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto selector = parse_selector(text);
    if (!selector) {
        if (selector.error().fix.rfind("Fix: ", 0) != 0) std::abort();
        return 0;
    }
    if (selector->entries.empty() || selector->wanted().empty()) std::abort();
    const std::string printed = to_text(*selector);
    const auto again = parse_selector(printed);
    if (!again || to_text(*again) != printed) std::abort();
    DeviceInfo device;
    device.plugin = "cpu";
    device.name = "A \"processor\"";
    device.facts.set(WYE_FACT_KEY_MEMORY_BYTES, {std::uint64_t{1} << 33U, {}});
    device.facts.set(WYE_FACT_KEY_DRIVER, {std::string("22.3.6"), {}});
    device.facts.set(WYE_FACT_KEY_SUBGROUP_SIZES, {std::vector<std::uint64_t>{16, 32}, {}});
    for (std::size_t i = 0; i < selector->entries.size(); ++i) {
        if (selector->entries[i].covers(device) != again->entries[i].covers(device)) std::abort();
        if (selector->entries[i].covers(device) && selector->excludes_plugin("cpu") &&
            !selector->entries[i].discard && !selector->discards_plugin("cpu"))
            std::abort();
    }
    return 0;
}
