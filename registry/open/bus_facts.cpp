// SPDX-License-Identifier: Apache-2.0
#include "registry/open/bus_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "wye/sdk/ascii.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::registry {
namespace {

// Reads a number from a kernel file: decimal, or hexadecimal after 0x. Nullopt for a negative
// number, by which the kernel says that there is no value.
std::optional<std::uint64_t> number_of_file(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    if (!(file >> text)) return std::nullopt;
    const bool hex = text.starts_with("0x");
    return sdk::parse_number<std::uint64_t>(text.substr(hex ? 2 : 0), hex ? 16 : 10);
}

}  // namespace

std::string normal_address(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view rest = text.substr(colon);
    const auto hex = [](std::string_view part) {
        return std::ranges::all_of(part, [](char c) {
            return sdk::ascii::is_digit(c) ||
                   (sdk::ascii::small(c) >= 'a' && sdk::ascii::small(c) <= 'f');
        });
    };
    const bool shaped = colon >= 1 && colon <= 8 && rest.size() == 8 && rest[3] == ':' &&
                        rest[6] == '.' && hex(text.substr(0, colon)) && hex(rest.substr(1, 2)) &&
                        hex(rest.substr(4, 2)) && sdk::ascii::is_digit(rest[7]);
    if (!shaped) return {};
    std::string_view domain = text.substr(0, colon);
    while (domain.size() > 4 && domain.front() == '0') domain.remove_prefix(1);
    const std::string out =
        fmt::format("{:0>4}{}", sdk::ascii::small(domain), sdk::ascii::small(rest));
    return out == "0000:00:00.0" ? std::string() : out;  // all zeros: the driver knows no address
}

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
