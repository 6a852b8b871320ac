// SPDX-License-Identifier: Apache-2.0
//
// The plugin, and one opened device.
#pragma once

#include <memory>
#include <vector>

#include "vulkan/discovery.hpp"
#include "vulkan/instance.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::vulkan {

// Made by `init`; instance and device list by the first probe, and unchanged after.
struct Plugin {
    const wye_host_table* host = nullptr;
    std::unique_ptr<const Loader> loader;
    std::unique_ptr<Instance> instance;
    std::vector<Device> devices;
};

}  // namespace wye::vulkan
