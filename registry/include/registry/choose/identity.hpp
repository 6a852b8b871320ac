// SPDX-License-Identifier: Apache-2.0
//
// Identity: determines, from facts, which devices of several plugins are the same physical device.
// Pure; free-threaded.
//
// The evidence, strongest first, is listed below. A value counts only if no other device of the
// same plugin and platform has it: parts of one card share the card's PCI address, and a wrong UUID
// may be on many devices.
//   pci_address            two devices with different addresses are never the same
//   uuid, luid             unless addresses, PCI vendors or host_processor contradict
//   render_node
//   host_processor         both devices run on this machine's processors, and neither name
//                          contains another processor's model
// Two devices of one plugin and platform are never the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/open/device.hpp"

namespace wye::registry {

enum class Confidence : std::uint8_t {
    presumed,  // nothing contradicts: a software device without a processor's model in its name
    likely,    // the same processor model
    strong,    // one identifier agrees
    certain,   // two identifiers agree
};
[[nodiscard]] std::string_view confidence_name(Confidence confidence) noexcept;

struct Alias {
    std::string selector;  // of the other device
    std::string evidence;  // "pci_address 0000:65:00.0, uuid 5a1b..."
    Confidence confidence = Confidence::presumed;
};

// What the host itself knows about its processors.
struct HostProcessor {
    std::string model;  // "AMD EPYC"; empty: unknown
};
// Reads the model from /proc/cpuinfo.
[[nodiscard]] HostProcessor host_processor();

struct PhysicalDevice {
    std::string id;          // 16 hex digits, a hash of `identifier`
    std::string identifier;  // the strongest evidence: "uuid 5a1b...", "processor AMD EPYC"
    std::vector<std::size_t> members;  // indices of the given devices, ascending; at least one
};

// Two devices that are kept apart because their evidence of identity is contradictory.
struct Doubt {
    std::size_t first = 0, second = 0;  // indices of the given devices
    std::string why;
};

struct Identities {
    std::vector<PhysicalDevice> physical;  // in the order of their first members
    std::vector<std::size_t> of;           // index in `physical` of each given device
    std::vector<Doubt> doubts;
};
using DeviceList = std::span<const std::shared_ptr<const DeviceInfo>>;
[[nodiscard]] Identities identify(DeviceList devices, const HostProcessor& host);

// Returns the other devices that are the same physical device as devices[at], in their order.
[[nodiscard]] std::vector<Alias> aliases(DeviceList devices, const Identities& identities,
                                         std::size_t at, const HostProcessor& host);

// Whether `id` is the device's UUID (hex digits, with or without dashes and "GPU-") or its PCI
// address.
[[nodiscard]] bool answers_to(const DeviceInfo& device, std::string_view id);

}  // namespace wye::registry
