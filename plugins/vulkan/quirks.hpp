// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for what Vulkan drivers do, beyond those that the self-test finds and the host's
// lowering knows. Pure.
#pragma once

#include <cstdint>

#include "wye/sdk/quirk.hpp"

namespace wye::vulkan {

inline constexpr sdk::Quirk kQuirks[] = {
    {"nvidia-vk-silent-loss", "NVIDIA", "580", "always",
     "a loss is told to those who submit or wait for a fence, and never to those who look at a "
     "timeline semaphore",
     "who waits or polls for long submits nothing once a second"},
    {"nvidia-vk-layout-compile", "NVIDIA", "580", "always",
     "a new number of descriptors in a layout costs 1.3 to 1.8 ms, in which something is compiled",
     "layouts have whole eights of descriptors, and programs share them"},
    {"nvidia-vk-denorm-unadvertised", "NVIDIA", "580", "self-test",
     "DenormPreserve is not advertised, and works",
     "modules use it, and the validation layer's message about that is passed over by name"},
    {"lavapipe-truncated-module", "lavapipe", "22.3", "always",
     "a module that ends in the middle of an instruction ends the process",
     "modules are looked at before the driver sees them"},
    {"lavapipe-same-uuid", "lavapipe", "22.3", "always",
     "pipelineCacheUUID and driverVersion are the same for every build",
     "names and the driver's text are part of the verdict's key"},
    {"lavapipe-cache-width", "lavapipe", "22.3", "self-test",
     "the shader cache gives code that was compiled for vectors of another width",
     "the self-test's workgroups depend on the width, so its modules differ"},
};

// nvidia-vk-silent-loss: between two questions.
inline constexpr std::uint64_t kAskEveryNs = 1'000'000'000;

}  // namespace wye::vulkan
