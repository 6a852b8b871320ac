// SPDX-License-Identifier: Apache-2.0
//
// Plugin: the state between `init` and `shutdown`: the kernels in use and the thread pool. Reads no
// environment variables; the host's configuration may set "cpu.threads" (a number) and "cpu.isa"
// (baseline, avx2 or avx512).
#pragma once

#include <atomic>

#include "cpu/discovery.hpp"
#include "cpu/run/pool.hpp"
#include "wye/sdk/plugin_slots.hpp"

namespace wye::cpu {

class Device;

struct Plugin : sdk::PluginState<DeviceInfo> {
    using Device = cpu::Device;
    static constexpr std::string_view kPlugin = "CPU", kDomain = "";

    using PluginState::PluginState;
    [[nodiscard]] static Result<std::unique_ptr<Plugin>> create(const wye_host_table& host);
    // Lists one device, the machine.
    [[nodiscard]] Result<std::vector<DeviceInfo>> probe();
    [[nodiscard]] std::span<const wye_string> formats(const DeviceInfo& info) const;
    [[nodiscard]] wye_status fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const;

    const KernelSet* kernels = nullptr;
    std::unique_ptr<Pool> pool;
    std::atomic<std::uint64_t> routines = 0;  // the last number given to a routine
    std::atomic<std::uint64_t> launches = 0;  // the last number given to a launch
};

// The error of the extension wye.native_handle for devices and queues: this plugin has no driver.
[[nodiscard]] inline Error no_handle(std::string_view object) {
    return {Code::UNSUPPORTED, "the CPU plugin has no native handle of a " + std::string(object),
            "Fix: use the native handle of a buffer, which is its address", "cpu"};
}

}  // namespace wye::cpu
