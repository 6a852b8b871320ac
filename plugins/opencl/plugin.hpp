// SPDX-License-Identifier: Apache-2.0
//
// Plugin: the state between `init` and `shutdown`: the loader, which `init` opens.
#pragma once

#include <atomic>
#include <optional>

#include "opencl/discovery.hpp"
#include "wye/sdk/plugin_slots.hpp"

namespace wye::opencl {

class Device;

struct Plugin : sdk::PluginState<DeviceInfo> {
    using Device = opencl::Device;
    static constexpr std::string_view kPlugin = "OpenCL", kDomain = "opencl";

    using PluginState::PluginState;
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host);
    // Lists the devices of all platforms, in the loader's order.
    [[nodiscard]] Result<std::vector<DeviceInfo>> probe();
    [[nodiscard]] std::span<const wye_string> formats(const DeviceInfo& info) const;
    [[nodiscard]] wye_status fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const;

    std::unique_ptr<const Driver> driver;
    // Whether submits get an event only if something waits for it. nullopt: depends on the driver.
    std::optional<bool> few_events;
    std::atomic<bool> lost_any{false};  // whether any device was lost in this process
};

}  // namespace wye::opencl
