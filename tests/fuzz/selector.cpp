// SPDX-License-Identifier: Apache-2.0
// Fuzz target: selectors. An accepted selector's printed text is accepted and prints the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "registry/selector.hpp"

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
    return 0;
}
