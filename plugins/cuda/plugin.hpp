// SPDX-License-Identifier: Apache-2.0
//
// Plugin: the state between `init` and `shutdown`. `init` opens nothing. The first probe opens the
// driver, and the first use of the compiler opens NVRTC, so translation needs no driver.
#pragma once

#include "cuda/discovery.hpp"
#include "cuda/nvrtc/compiler.hpp"
#include "wye/sdk/plugin_slots.hpp"

namespace wye::cuda {

class Device;

struct Plugin : sdk::PluginState<DeviceInfo> {
    using Device = cuda::Device;
    static constexpr std::string_view kPlugin = "CUDA", kDomain = "cuda";

    explicit Plugin(const wye_host_table& table) : PluginState(table), compiler(table) {}
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host);
    [[nodiscard]] Result<std::vector<DeviceInfo>> probe();
    // Returns the formats that the device accepts. Leaves out `cuda-c`, and logs the reason, if
    // NVRTC is absent or does not support the device.
    [[nodiscard]] std::span<const wye_string> formats(const DeviceInfo& info);
    [[nodiscard]] wye_status fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const;
    [[nodiscard]] Result<std::vector<std::byte>> translate(const DeviceInfo* info,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);
    // The only extension is `wye.compiler`.
    [[nodiscard]] const void* extension(std::string_view name, std::uint32_t version) const;

    std::unique_ptr<const Driver> driver;
    Compiler compiler;
    std::uint64_t spin_ns = 0;  // how long a wait polls the driver before it blocks
};

}  // namespace wye::cuda
