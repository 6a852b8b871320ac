// SPDX-License-Identifier: Apache-2.0
//
// DeviceInfo: a device that a plugin's probe found. Immutable after the probe.
#pragma once

#include <cstdint>
#include <string>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

struct DeviceInfo {
    std::string name;
    // Why the device cannot be used, and the remedy; empty: the device is usable.
    std::string reason, fix;
    std::int64_t native_code = 0;  // the driver's error code behind `reason`

    [[nodiscard]] bool usable() const { return reason.empty(); }
    // The fact HOST_MEMORY_ALIGNMENT. 0: application memory cannot become a buffer.
    [[nodiscard]] std::uint64_t host_memory_alignment() const { return 0; }
};

// The error returned when an unusable device is opened.
[[nodiscard]] inline Error unusable(const DeviceInfo& info, std::string_view domain) {
    Error error(Code::NO_DEVICE, info.reason, info.fix, info.name);
    if (info.native_code == 0) return error;
    error.native_domain = domain;
    error.native_code = info.native_code;
    return error;
}

}  // namespace wye::sdk
