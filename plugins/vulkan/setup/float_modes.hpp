// SPDX-License-Identifier: Apache-2.0
//
// The float-control modes that modules may declare, by width: those that the device advertises, and
// DenormPreserve in the cases of the quirk nvidia-vk-denorm-unadvertised. Pure.
#pragma once

#include "vulkan/discovery.hpp"
#include "vulkan/quirks.hpp"

namespace wye::vulkan {

struct FloatModes {
    bool f32_denorm = false;                          // DenormPreserve
    bool f32_sign_nan = false, f64_sign_nan = false;  // SignedZeroInfNanPreserve
    bool f32_nearest = false, f64_nearest = false;    // RoundingModeRTE
};

// If the device requires the same rounding mode for all widths, modules may declare RoundingModeRTE
// only if both widths support it.
[[nodiscard]] inline FloatModes float_modes(const DeviceInfo& device) {
    const VkPhysicalDeviceFloatControlsProperties& p = device.properties.float_controls;
    FloatModes out;
    out.f32_denorm = p.shaderDenormPreserveFloat32 == VK_TRUE ||
                     (device.unadvertised_denorm && nvidia_vk_denorm_unadvertised(device));
    out.f32_sign_nan = p.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE;
    out.f64_sign_nan = p.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE;
    out.f32_nearest = p.shaderRoundingModeRTEFloat32 == VK_TRUE;
    out.f64_nearest = p.shaderRoundingModeRTEFloat64 == VK_TRUE;
    if (p.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE)
        out.f32_nearest = out.f64_nearest = out.f32_nearest && out.f64_nearest;
    return out;
}

}  // namespace wye::vulkan
