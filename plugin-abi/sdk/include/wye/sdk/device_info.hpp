// SPDX-License-Identifier: Apache-2.0
//
// A device that a plugin's probe found. Immutable afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

struct DeviceInfo {
    std::string name;
    // The reason why the device cannot be used; empty: usable.
    std::string reason, fix;
    std::int32_t native_code = 0;  // the driver's, with the reason

    [[nodiscard]] bool usable() const { return reason.empty(); }
    // The fact HOST_MEMORY_ALIGNMENT; 0: no memory of the application becomes a buffer.
    [[nodiscard]] std::uint64_t host_memory_alignment() const { return 0; }
};

// The error of opening an unusable device.
[[nodiscard]] inline Error unusable(const DeviceInfo& info, std::string_view domain) {
    Error error(Code::NO_DEVICE, info.reason, info.fix, info.name);
    if (info.native_code == 0) return error;
    error.native_domain = domain;
    error.native_code = info.native_code;
    return error;
}

}  // namespace wye::sdk
