// SPDX-License-Identifier: Apache-2.0
#include "bus_facts.hpp"

#include <charconv>
#include <fstream>
#include <optional>

#include "registry/choose/identity.hpp"

namespace wye::registry {
namespace {

// Reads a number from a kernel file: decimal, or hexadecimal after 0x. Nullopt for a negative one,
// which means that there is none.
std::optional<std::uint64_t> number_of_file(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    if (!(file >> text)) return std::nullopt;
    const bool hex = text.starts_with("0x");
    const char* const first = text.data() + (hex ? 2 : 0);
    std::uint64_t value = 0;
    const auto [stop, status] =
        std::from_chars(first, text.data() + text.size(), value, hex ? 16 : 10);
    if (status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

void add_bus_facts(Facts& facts, const std::string& root) {
    const std::string address = normal_address(facts.text(WYE_FACT_KEY_PCI_ADDRESS));
    if (address.empty()) return;
    const auto add = [&](std::uint32_t key, const char* file) {
        if (facts.find(key) != nullptr) return;
        const std::string path = root + address + "/" + file;
        if (const auto value = number_of_file(path)) facts.set(key, {*value, path});
    };
    add(WYE_FACT_KEY_NUMA_NODE, "numa_node");
    add(WYE_FACT_KEY_VENDOR_ID, "vendor");
    add(WYE_FACT_KEY_DEVICE_ID, "device");
}

}  // namespace wye::registry
