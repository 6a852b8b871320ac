// SPDX-License-Identifier: Apache-2.0
#include "registry/open/device_id.hpp"

#include <xxhash.h>

#include <cstdio>

namespace wye::registry {

std::string identity_of(const DeviceInfo& device) {
    std::string out;
    for (const std::string_view part :
         {std::string_view(device.plugin), std::string_view(device.name),
          device.facts.text(WYE_FACT_KEY_PCI_ADDRESS), device.facts.text(WYE_FACT_KEY_UUID)}) {
        out += std::to_string(part.size()) + ":";  // separates the parts unambiguously
        out += part;
    }
    return out;
}

std::string device_id(const DeviceInfo& device, std::uint32_t ordinal) {
    return hash_id(identity_of(device), ordinal);
}

std::string hash_id(std::string_view identity, std::uint32_t ordinal) {
    const XXH64_hash_t hash = XXH3_64bits_withSeed(identity.data(), identity.size(), ordinal);
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

}  // namespace wye::registry
