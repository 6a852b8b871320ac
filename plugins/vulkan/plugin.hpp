// SPDX-License-Identifier: Apache-2.0
//
// Plugin: the state between `init` and `shutdown`: the loader, which `init` opens, and the
// instance, which the first probe creates.
#pragma once

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdicts.hpp"
#include "vulkan/setup/instance.hpp"
#include "wye/sdk/plugin_slots.hpp"

namespace wye::vulkan {

class Device;

struct Plugin : sdk::PluginState<DeviceInfo> {
    using Device = vulkan::Device;
    static constexpr std::string_view kPlugin = "Vulkan", kDomain = "vulkan";

    using PluginState::PluginState;
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host);
    [[nodiscard]] Result<std::vector<DeviceInfo>> probe();
    [[nodiscard]] std::span<const wye_string> formats(const DeviceInfo& info) const;
    // Some facts need the self-test's verdict. The first call for such a fact may run the
    // self-test.
    [[nodiscard]] wye_status fact(std::uint32_t index, std::uint32_t key, wye_fact& out);
    // Called for each device that the host opens; checks a saved verdict.
    [[nodiscard]] Result<void> opened(Device& device) { return verdicts->confirm(device); }
    // Passes the validation layer's messages to the host's log, without holding the messages' lock.
    void deliver_messages() const;

    std::unique_ptr<const Loader> loader;
    std::unique_ptr<Instance> instance;
    std::unique_ptr<Verdicts> verdicts;
    std::uint64_t spin_ns = 0;  // how long a wait polls a GPU's driver before it blocks
    std::uint64_t keep_ns = 0;  // how long a submit that nobody waits for is kept
};

}  // namespace wye::vulkan
