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
     "submits and waits for fences report a lost device, but waits for timeline semaphores and "
     "reads of their values never do",
     "a wait or a series of polls makes an empty submit once a second"},
    {"nvidia-vk-costly-submits", "NVIDIA", "580", "always",
     "a submit with a signal takes 9 us, or 24 if the signal's interrupt hits the submitting "
     "thread's processor; each further command buffer some 2 us (H200)",
     "while eight or more submits are pending, further ones that nobody waits for are kept for up "
     "to 100 us and sent together (commands/outbox.hpp)"},
    {"nvidia-vk-unloaded", "NVIDIA", "580", "driver id",
     "the library uses up static thread-local storage each time that it is mapped, and the loader "
     "maps it for every instance: from about the 30th instance of a process on, vkCreateInstance "
     "fails with VK_ERROR_INCOMPATIBLE_DRIVER",
     "the libraries of drivers stay mapped once a probe has found such a device"},
    {"nvidia-vk-layout-compile", "NVIDIA", "580", "always",
     "the first layout with a given number of descriptors takes 1.3 to 1.8 ms, as for a compile",
     "the number of descriptors is rounded up to a multiple of 8, and programs share layouts"},
    {"nvidia-vk-denorm-unadvertised", "NVIDIA", "580", "driver id, and self-test",
     "DenormPreserve is not advertised, but works",
     "a probe of the plugin tests it, and then modules use it; the validation layer's message "
     "about it is ignored"},
    {"nvidia-vk-half-kept-whole", "NVIDIA", "580", "self-test",
     "an f32 that is converted to f16 and back keeps all its bits",
     "`native_f16_convert` is false: the lowering rounds in integers"},
    {"nvidia-vk-inexact-f32", "NVIDIA", "580", "self-test",
     "square root of f32 is not exact; fma takes subnormal operands and results for zeros",
     "`native_f32_sqrt` and `native_f32_fma` are false, `native_normal_f32_fma` is true: the root "
     "starts from the inverse square root, and fma is emulated for numbers that may be subnormal"},
    {"lavapipe-loop-rounds", "lavapipe", "22.3", "self-test",
     "loops end silently after 65,535 iterations of an invocation, of all its loops together",
     "the fact `loop_rounds`: the lowering counts the iterations of loops that may run longer, and "
     "a launch fails with an error if one was ended early"},
    {"lavapipe-fma", "lavapipe", "22.3", "self-test", "Fma rounds twice",
     "`native_f32_fma` and `native_f64_fma` are false: emulated"},
    {"lavapipe-f64-rounding", "lavapipe", "22.3", "self-test",
     "Floor, Ceil, Trunc and RoundEven of doubles lose the sign of zero, and fractions from 2^24 "
     "on, unless a vector with a double for each lane fills a register (wrong with "
     "LP_NATIVE_VECTOR_WIDTH=512, and at the default width without AVX-512)",
     "`native_f64_round` is false there: emulated"},
    {"lavapipe-one-queue", "lavapipe", "22.3", "the family's count", "there is one VkQueue",
     "all queues share it, behind a lock"},
    {"layer-missed-hazards", "Khronos validation layer", "1.3.239", "always",
     "it misses hazards between two dispatches", "barriers have tests of their own"},
    {"layer-skipped-values", "Khronos validation layer", "1.3.239", "always",
     "a wait for a value of a timeline semaphore between two that are signalled takes 10 s and "
     "reports an error",
     "waits use only values that are signalled"},
    {"layer-missed-end", "Khronos validation layer", "1.3.239", "always",
     "if several threads wait for one semaphore, a wait may miss its end: it takes 10 s more and "
     "reports `Timeout waiting for timeline semaphore state to update`",
     "the message is ignored"},
    {"lavapipe-truncated-module", "lavapipe", "22.3", "always",
     "a module that is cut off within an instruction ends the process",
     "the plugin checks modules before the driver gets them"},
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

// nvidia-vk-silent-loss: the interval between two checks whether the device is lost.
inline constexpr std::uint64_t kAskEveryNs = 1'000'000'000;

}  // namespace wye::vulkan
