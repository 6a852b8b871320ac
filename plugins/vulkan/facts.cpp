// SPDX-License-Identifier: Apache-2.0
//
// The facts of wye/abi.h, from the device's reports and the self-test. A fact that has neither
// source is not reported.
#include "vulkan/discovery.hpp"

#include <algorithm>

#include "vulkan/setup/float_modes.hpp"
#include "wye/sdk/facts.hpp"

namespace wye::vulkan {
namespace {

// Descriptors reserved for the trap words and the block of parameters.
constexpr std::uint32_t kOwnDescriptors = 2;
constexpr std::uint32_t kMostBuffers = 64;
// A program has at most 64 parameters, of at most 8 bytes each.
constexpr std::uint64_t kMostParamBytes = 512;

constexpr std::string_view kVersion11 = "Vulkan 1.1";
constexpr std::string_view kSelfTest = "self-test";

using namespace sdk::facts;

wye_status feature(wye_fact& out, VkBool32 value, std::string_view source) {
    return flag(out, value == VK_TRUE, source);
}
wye_status extent(wye_fact& out, const std::uint32_t (&size)[3], std::string_view source) {
    return triple(out, {size[0], size[1], size[2]}, source);
}

wye_status capability(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    const Features& f = d.features;
    switch (key) {
        case WYE_FACT_KEY_INT64:
            return feature(out, f.core.shaderInt64, "shaderInt64");
        case WYE_FACT_KEY_F64:
            return feature(out, f.core.shaderFloat64, "shaderFloat64");
        case WYE_FACT_KEY_STORAGE8:
        case WYE_FACT_KEY_STORAGE16:
            return flag(out, true, "spirv-vulkan");  // the lowering emulates missing accesses
        case WYE_FACT_KEY_ATOMIC_INT64:
            return feature(out, f.atomic_int64.shaderBufferInt64Atomics,
                           "shaderBufferInt64Atomics");
        case WYE_FACT_KEY_ATOMIC_INT64_SHARED:
            return feature(out, f.atomic_int64.shaderSharedInt64Atomics,
                           "shaderSharedInt64Atomics");
        case WYE_FACT_KEY_ATOMIC_INT32:
        case WYE_FACT_KEY_BARRIER:
        case WYE_FACT_KEY_INDIRECT_DISPATCH:
            return flag(out, true, kVersion11);
        case WYE_FACT_KEY_NATIVE_WAIT:
            return flag(out, true, "timelineSemaphore");
        case WYE_FACT_KEY_SUBGROUP:
            return flag(out, d.has_subgroups(), "VkPhysicalDeviceSubgroupProperties");
        case WYE_FACT_KEY_UNIFIED_MEMORY:
            return flag(out, d.unified_memory(), "VkPhysicalDeviceMemoryProperties");
        case WYE_FACT_KEY_DEVICE_TIMESTAMPS:
            return flag(out, d.family.timestamp_bits != 0, "timestampValidBits");
        default:
            return WYE_UNSUPPORTED;
    }
}

wye_status limit(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    const VkPhysicalDeviceLimits& limits = d.properties.core.limits;
    switch (key) {
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            return extent(out, limits.maxComputeWorkGroupSize, "maxComputeWorkGroupSize");
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return number(out, limits.maxComputeWorkGroupInvocations,
                          "maxComputeWorkGroupInvocations");
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            return extent(out, limits.maxComputeWorkGroupCount, "maxComputeWorkGroupCount");
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            return number(out, limits.maxComputeSharedMemorySize, "maxComputeSharedMemorySize");
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            // Parameters that exceed the push constants are put in a storage buffer.
            return number(out,
                          std::min<std::uint64_t>(kMostParamBytes, limits.maxStorageBufferRange),
                          "maxStorageBufferRange");
        case WYE_FACT_KEY_MAX_BUFFERS: {
            const std::uint32_t most = std::min(
                {limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers,
                 limits.maxPerStageResources, kMostBuffers + kOwnDescriptors});
            return number(out, most - std::min(most, kOwnDescriptors),
                          "maxPerStageDescriptorStorageBuffers");
        }
        case WYE_FACT_KEY_MAX_QUEUES:
            return number(out, d.family.count, "VkQueueFamilyProperties::queueCount");
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
            return number(out, d.max_buffer_bytes(), "maxStorageBufferRange");
        case WYE_FACT_KEY_SUBGROUP_SIZES:
            return list(out, d.subgroup_sizes, "VkPhysicalDeviceSubgroupSizeControlProperties");
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            return number(out, limits.minStorageBufferOffsetAlignment,
                          "minStorageBufferOffsetAlignment");
        case WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT:
            if (d.host_memory_alignment() == 0) return WYE_UNSUPPORTED;
            return number(out, d.host_memory_alignment(), "minImportedHostPointerAlignment");
        case WYE_FACT_KEY_MAX_PUSH_BYTES:
            return number(out, limits.maxPushConstantsSize, "maxPushConstantsSize");
        case WYE_FACT_KEY_MEMORY_BYTES:
            return number(out, d.memory_bytes(), "VkPhysicalDeviceMemoryProperties");
        default:
            return WYE_UNSUPPORTED;
    }
}

wye_status identity(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    switch (key) {
        case WYE_FACT_KEY_VENDOR:
            return text(out, d.vendor, "vendorID");
        case WYE_FACT_KEY_DRIVER:
            return text(out, d.driver, "VkPhysicalDeviceDriverProperties");
        case WYE_FACT_KEY_PLATFORM:
            return text(out, d.platform, "VkPhysicalDeviceDriverProperties");
        case WYE_FACT_KEY_API_VERSION:
            return text(out, d.version, "apiVersion");
        case WYE_FACT_KEY_DEVICE_KIND:
            return text(out, d.kind, "deviceType");
        case WYE_FACT_KEY_PCI_ADDRESS:
            return text(out, d.pci_address, "VK_EXT_pci_bus_info");
        case WYE_FACT_KEY_UUID:
            return text(out, d.uuid, "deviceUUID");
        case WYE_FACT_KEY_LUID:
            return text(out, d.luid, "deviceLUID");
        case WYE_FACT_KEY_VENDOR_ID:
            return number(out, d.properties.core.vendorID, "vendorID");
        case WYE_FACT_KEY_DEVICE_ID:
            return ordinal(out, d.properties.core.deviceID, "deviceID");
        case WYE_FACT_KEY_RENDER_NODE:
            return text(out, d.render_node, "VK_EXT_physical_device_drm");
        case WYE_FACT_KEY_HOST_PROCESSOR:  // implied by the device's type
            return flag(out, d.properties.core.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
                        "deviceType");
        case WYE_FACT_KEY_CONFORMANCE_VERSION:
            return text(out, d.conformance, "VkPhysicalDeviceDriverProperties");
        case WYE_FACT_KEY_COMPUTE_UNITS:
            return number(out, d.compute_units(),
                          d.properties.processors_nv.shaderSMCount != 0
                              ? "VK_NV_shader_sm_builtins"
                              : "VK_AMD_shader_core_properties");
        case WYE_FACT_KEY_MATRIX_SIZES:
            return text(out, d.matrix_sizes, "VK_NV_cooperative_matrix");
        case WYE_FACT_KEY_COMPUTE_QUEUES:
            return number(out, d.compute_queues, "VkQueueFamilyProperties");
        case WYE_FACT_KEY_TRANSFER_QUEUES:
            return ordinal(out, d.transfers.count, "VkQueueFamilyProperties");
        case WYE_FACT_KEY_FREE_MEMORY_BYTES:
            return number(out, d.free_bytes, "VK_EXT_memory_budget");
        default:
            return WYE_UNSUPPORTED;
    }
}

constexpr std::string_view kNotAdvertised = "self-test, not advertised";

// Facts that the self-test determines.
wye_status arithmetic(const DeviceInfo& d, const Verdict& v, std::uint32_t key, wye_fact& out) {
    // If division or square root of f32 is inexact, the lowering computes them from the inverse
    // square root, or in integers. If fma is inexact, the lowering computes it in f64, or in 64-bit
    // integers.
    const bool wide = d.features.core.shaderFloat64 == VK_TRUE && v.f64.arithmetic &&
                      v.f64.divides && v.f64.square_root;
    const FloatVerdict& f32 = v.f32();
    // If the self-test did not run, compilers are assumed to fold literal zeros, which costs
    // programs one addition of the opaque zero. All other facts are then unknown.
    if (!v.ran && key != WYE_FACT_KEY_FOLDS_LITERAL_ZERO) return WYE_UNSUPPORTED;
    const bool ieee_f32 =
        f32.arithmetic && (wide || f32.fuses || d.features.core.shaderInt64 == VK_TRUE);
    const bool ieee_f64 = v.f64.arithmetic && v.f64.divides && v.f64.square_root;
    const auto& atomics = d.features.atomic_int64;
    switch (key) {
        case WYE_FACT_KEY_IEEE_F32:
        case WYE_FACT_KEY_ATOMIC_F32_ADD:
            return flag(out, ieee_f32, kSelfTest);
        case WYE_FACT_KEY_IEEE_F64:
            return flag(out, ieee_f64, kSelfTest);
        case WYE_FACT_KEY_ATOMIC_F64_ADD:  // emulated by compare-and-swap if not native
            return flag(out,
                        ieee_f64 && atomics.shaderBufferInt64Atomics == VK_TRUE &&
                            atomics.shaderSharedInt64Atomics == VK_TRUE,
                        "self-test, shaderBufferInt64Atomics");
        case WYE_FACT_KEY_NATIVE_F32_DIV:
            return flag(out, f32.divides, kSelfTest);
        // quirks nvidia-vk-inexact-f32, lavapipe-fma and lavapipe-f64-rounding.
        case WYE_FACT_KEY_NATIVE_F32_SQRT:
            return flag(out, f32.square_root, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F32_FMA:
            return flag(out, f32.fuses, kSelfTest);
        case sdk::facts::kNativeNormalF32Fma:
            return flag(out, f32.fuses_normals, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F64_DIV:
            return flag(out, v.f64.divides, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F64_SQRT:
            return flag(out, v.f64.square_root, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F64_FMA:
            return flag(out, v.f64.fuses, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F32_ROUND:
            return flag(out, f32.rounds, kSelfTest);
        case WYE_FACT_KEY_NATIVE_F64_ROUND:
            return flag(out, v.f64.rounds, kSelfTest);
        case WYE_FACT_KEY_FOLDS_LITERAL_ZERO:
            return flag(out, f32.folds_literal_zero || v.f64.folds_literal_zero, kSelfTest);
        case WYE_FACT_KEY_KEEPS_F32_DENORMALS:
            return flag(out, v.f32_plain.arithmetic, kSelfTest);
        case WYE_FACT_KEY_F32_DENORM_MODE: {
            const bool advertised =
                d.properties.float_controls.shaderDenormPreserveFloat32 == VK_TRUE;
            return flag(out, v.f32_preserved.arithmetic, advertised ? kSelfTest : kNotAdvertised);
        }
        case WYE_FACT_KEY_NATIVE_F16_CONVERT:
            // quirk nvidia-vk-half-kept-whole.
            return flag(out, v.f16_convert, kSelfTest);
        case WYE_FACT_KEY_LOOP_ROUNDS:
            // quirk lavapipe-loop-rounds.
            return number(out, v.loop_rounds, kSelfTest);
        case sdk::facts::kF32ToF64Rate:
            return number(out, v.f32_to_f64_rate, kSelfTest);
        default:
            return WYE_UNSUPPORTED;
    }
}

// Facts that only the lowering uses, and that the driver reports.
wye_status lowering(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    const FloatModes modes = float_modes(d);
    const auto& atomics = d.features.atomic_float;
    constexpr std::string_view kControls = "VkPhysicalDeviceFloatControlsProperties";
    switch (key) {
        case WYE_FACT_KEY_WORKGROUP_LOOPS:
            return flag(out, d.kind == "cpu", "deviceType");
        case WYE_FACT_KEY_NATIVE_STORAGE8:
            return feature(out, d.features.storage8.storageBuffer8BitAccess,
                           "storageBuffer8BitAccess");
        case WYE_FACT_KEY_NATIVE_STORAGE16:
            return feature(out, d.features.storage16.storageBuffer16BitAccess,
                           "storageBuffer16BitAccess");
        case WYE_FACT_KEY_F32_SIGN_NAN_MODE:
            return flag(out, modes.f32_sign_nan, kControls);
        case WYE_FACT_KEY_F64_SIGN_NAN_MODE:
            return flag(out, modes.f64_sign_nan, kControls);
        case WYE_FACT_KEY_F32_RTE_MODE:
            return flag(out, modes.f32_nearest, kControls);
        case WYE_FACT_KEY_F64_RTE_MODE:
            return flag(out, modes.f64_nearest, kControls);
        case WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD:
            return flag(out,
                        atomics.shaderBufferFloat32AtomicAdd == VK_TRUE &&
                            atomics.shaderSharedFloat32AtomicAdd == VK_TRUE,
                        "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT");
        case WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD:
            return flag(out,
                        atomics.shaderBufferFloat64AtomicAdd == VK_TRUE &&
                            atomics.shaderSharedFloat64AtomicAdd == VK_TRUE,
                        "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT");
        default:
            return WYE_UNSUPPORTED;
    }
}

}  // namespace

bool needs_self_test(std::uint32_t key) {
    switch (key) {
        case WYE_FACT_KEY_IEEE_F32:
        case WYE_FACT_KEY_IEEE_F64:
        case WYE_FACT_KEY_ATOMIC_F32_ADD:
        case WYE_FACT_KEY_ATOMIC_F64_ADD:
        case WYE_FACT_KEY_NATIVE_F32_DIV:
        case WYE_FACT_KEY_NATIVE_F32_SQRT:
        case WYE_FACT_KEY_NATIVE_F32_FMA:
        case sdk::facts::kNativeNormalF32Fma:
        case WYE_FACT_KEY_NATIVE_F64_DIV:
        case WYE_FACT_KEY_NATIVE_F64_SQRT:
        case WYE_FACT_KEY_NATIVE_F64_FMA:
        case WYE_FACT_KEY_NATIVE_F32_ROUND:
        case WYE_FACT_KEY_NATIVE_F64_ROUND:
        case WYE_FACT_KEY_FOLDS_LITERAL_ZERO:
        case WYE_FACT_KEY_KEEPS_F32_DENORMALS:
        case WYE_FACT_KEY_F32_DENORM_MODE:
        case WYE_FACT_KEY_NATIVE_F16_CONVERT:
        case WYE_FACT_KEY_LOOP_ROUNDS:
        case sdk::facts::kF32ToF64Rate:
            return true;
        default:
            return false;
    }
}

wye_status fact(const DeviceInfo& d, const Verdict& verdict, std::uint32_t key, wye_fact& out) {
    if (!known(key)) return WYE_UNKNOWN_KEY;
    if (needs_self_test(key)) return arithmetic(d, verdict, key, out);
    if (key < WYE_FACT_KEY_MAX_WORKGROUP_SIZE) return capability(d, key, out);
    if (key < WYE_FACT_KEY_VENDOR) return limit(d, key, out);
    if (key < WYE_FACT_KEY_NATIVE_F32_DIV) return identity(d, key, out);
    return lowering(d, key, out);
}

}  // namespace wye::vulkan
