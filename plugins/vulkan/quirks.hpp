// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for quirks of Vulkan drivers, including those that the self-test finds, but not those
// in the host's lowering. Pure.
#pragma once

#include <cstdint>

#include "vulkan/discovery.hpp"
#include "wye/sdk/quirk.hpp"

namespace wye::vulkan {

inline constexpr sdk::Quirk kQuirks[] = {
    {"nvidia-vk-silent-loss", "NVIDIA", "580", "always",
     "a loss is told to those who submit or wait for a fence, and never to those who look at a "
     "timeline semaphore",
     "who waits or polls for long submits nothing once a second"},
    {"nvidia-vk-costly-submits", "NVIDIA", "580", "always",
     "a submit with a signal costs 9 us, and 24 where the signal's interrupt meets the submitting "
     "thread; a further command buffer in it some 2 us (H200)",
     "from the ninth submit on that nobody waits for, submits are kept for up to 100 us and sent "
     "together (commands/outbox.hpp)"},
    {"nvidia-vk-unloaded", "NVIDIA", "580", "driver id",
     "the library uses up static thread-local storage each time that it is mapped, which the "
     "loader "
     "does with every instance: from about the 30th instance of a process on, vkCreateInstance "
     "fails with VK_ERROR_INCOMPATIBLE_DRIVER",
     "the libraries of drivers stay mapped once a probe has found such a device"},
    {"nvidia-vk-layout-compile", "NVIDIA", "580", "always",
     "a new number of descriptors in a layout costs 1.3 to 1.8 ms, in which something is compiled",
     "layouts have whole eights of descriptors, and programs share them"},
    {"nvidia-vk-denorm-unadvertised", "NVIDIA", "580", "driver id, and self-test",
     "DenormPreserve is not advertised, and works",
     "the plugin's probe tries it, and modules use it after that; the validation layer's message "
     "about that is passed over by name"},
    {"nvidia-vk-half-kept-whole", "NVIDIA", "580", "self-test",
     "an f32 that becomes f16 and f32 again keeps all its bits",
     "`native_f16_convert` is false: the lowering rounds in integers"},
    {"nvidia-vk-inexact-f32", "NVIDIA", "580", "self-test",
     "square root and fma of f32 are not exact",
     "`native_f32_sqrt` and `native_f32_fma` are false: roots are computed from the inverse square "
     "root, and fma through f64"},
    {"lavapipe-loop-rounds", "lavapipe", "22.3", "self-test",
     "loops end silently after 65,535 rounds of an invocation, all loops together",
     "the fact `loop_rounds`: the lowering watches loops that may run longer, and a launch in "
     "which "
     "one was cut short fails by name"},
    {"lavapipe-fma", "lavapipe", "22.3", "self-test", "Fma rounds twice",
     "`native_f32_fma` and `native_f64_fma` are false: emulated"},
    {"lavapipe-f64-rounding", "lavapipe", "22.3", "self-test",
     "Floor, Ceil, Trunc and RoundEven of doubles lose the sign of zero, and fractions from 2^24 "
     "on, unless a vector of as many doubles as lanes fills a register (wrong with "
     "LP_NATIVE_VECTOR_WIDTH=512, and without AVX-512 at the usual width)",
     "`native_f64_round` is false there: emulated"},
    {"lavapipe-one-queue", "lavapipe", "22.3", "the family's count", "there is one VkQueue",
     "all queues share it, behind a lock"},
    {"layer-missed-hazards", "Khronos validation layer", "1.3.239", "always",
     "it misses hazards between two dispatches", "barriers have tests of their own"},
    {"layer-skipped-values", "Khronos validation layer", "1.3.239", "always",
     "a wait for a timeline semaphore's value between those that are signalled takes 10 s and "
     "gives "
     "an error",
     "waits are for values that are signalled"},
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

[[nodiscard]] inline bool nvidia_vk_unloaded(const DeviceInfo& info) {
    return info.properties.driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}

[[nodiscard]] inline bool nvidia_vk_denorm_unadvertised(const DeviceInfo& info) {
    return info.properties.driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}

// nvidia-vk-silent-loss: the interval between two checks.
inline constexpr std::uint64_t kAskEveryNs = 1'000'000'000;

}  // namespace wye::vulkan
