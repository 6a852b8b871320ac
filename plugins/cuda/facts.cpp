// SPDX-License-Identifier: Apache-2.0
//
// The facts of wye/abi.h, from the driver's reports and from CUDA's guarantees for each compute
// capability. A fact that has neither source is not reported.
#include <algorithm>

#include "cuda/discovery.hpp"
#include "wye/sdk/facts.hpp"

namespace wye::cuda {
namespace {

constexpr std::string_view kGuide = "CUDA C++ Programming Guide, compute capabilities";

// A kernel takes 4 KiB of arguments: an address and a count for each of 64 buffers, 64 bytes for
// grid, trap words and an opaque zero, and in the rest the program's parameters (kParamBytes).
constexpr std::uint64_t kMaxBuffers = 64;
constexpr std::uint64_t kConnections = 8;  // the default of CUDA_DEVICE_MAX_CONNECTIONS
constexpr std::uint64_t kParamBytes = 4096 - kMaxBuffers * 16 - 64;
constexpr std::uint64_t kPrivateBytes = 512 << 10;

constexpr std::uint64_t kVendor = 0x10de;

// The sizes of wmma instructions: MxNxK, then the type of A and B, and the type of C and D.
std::string_view matrix_sizes(int architecture) {
    if (architecture < 70) return {};
    if (architecture < 75) return "16x16x16 f16 f32";
    if (architecture < 80) return "16x16x16 f16 f32, 16x16x16 u8 i32, 8x8x32 u4 i32";
    return "16x16x16 f16 f32, 16x16x16 bf16 f32, 16x16x8 tf32 f32, 8x8x4 f64 f64, 16x16x16 u8 i32";
}

using namespace sdk::facts;

wye_status limit(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    switch (key) {
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            return triple(out, d.max_workgroup, "CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_*");
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return number(out, d.max_invocations, "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK");
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            return triple(out, d.max_groups, "CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_*");
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            return number(out, d.shared_bytes,
                          "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN");
        case WYE_FACT_KEY_MAX_PRIVATE_BYTES:
            return number(out, kPrivateBytes, kGuide);
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            return number(out, kParamBytes, kGuide);
        case WYE_FACT_KEY_MAX_BUFFERS:
            return number(out, kMaxBuffers, kGuide);
        case WYE_FACT_KEY_MAX_QUEUES:
            return number(out, kConnections, kGuide);
        case WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT:
            if (d.host_memory_alignment() == 0) return WYE_UNSUPPORTED;
            return number(out, d.host_memory_alignment(), "sysconf(_SC_PAGESIZE)");
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
        case WYE_FACT_KEY_MEMORY_BYTES:
            return number(out, d.memory_bytes, "cuDeviceTotalMem");
        case WYE_FACT_KEY_SUBGROUP_SIZES:
            return list(out, {&d.warp, d.warp == 0 ? 0U : 1U}, "CU_DEVICE_ATTRIBUTE_WARP_SIZE");
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            return number(out, 1, "kernels get addresses");
        default:
            return WYE_UNSUPPORTED;
    }
}

wye_status identity(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    switch (key) {
        case WYE_FACT_KEY_VENDOR:
            return text(out, "NVIDIA Corporation", "CUDA");
        case WYE_FACT_KEY_DRIVER:
            return text(out, d.driver_version, "/proc/driver/nvidia/version");
        case WYE_FACT_KEY_PLATFORM:
            return text(out, "NVIDIA CUDA", "CUDA");
        case WYE_FACT_KEY_API_VERSION:
            return text(out, d.api_version, "cuDriverGetVersion");
        case WYE_FACT_KEY_DEVICE_KIND:
            return text(out, "gpu", "CUDA");
        case WYE_FACT_KEY_ISA:
            return text(out, d.isa, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*");
        case WYE_FACT_KEY_PCI_ADDRESS:
            return text(out, d.pci_address, "CU_DEVICE_ATTRIBUTE_PCI_*");
        case WYE_FACT_KEY_UUID:
            return text(out, d.uuid, "cuDeviceGetUuid");
        case WYE_FACT_KEY_VENDOR_ID:
            return number(out, kVendor, "PCI");
        case WYE_FACT_KEY_HOST_PROCESSOR:
            return flag(out, false, "CUDA");
        case WYE_FACT_KEY_MATRIX_SIZES:
            return text(out, matrix_sizes(d.architecture), kGuide);
        case WYE_FACT_KEY_COMPUTE_UNITS:
            return number(out, d.compute_units, "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT");
        case WYE_FACT_KEY_CLOCK_HZ:
            return number(out, d.clock_khz * 1000, "CU_DEVICE_ATTRIBUTE_CLOCK_RATE");
        case WYE_FACT_KEY_L2_CACHE_BYTES:
            return number(out, d.l2_bytes, "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE");
        case WYE_FACT_KEY_MEMORY_BANDWIDTH:  // two transfers per clock cycle
            return number(out, d.memory_clock_khz * 1000 * 2 * (d.memory_bus_bits / 8),
                          "2 x CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE x GLOBAL_MEMORY_BUS_WIDTH");
        case WYE_FACT_KEY_REGISTERS_PER_THREAD:
            return number(out, 255, kGuide);
        case WYE_FACT_KEY_SHARED_BANKS:
            return number(out, 32, kGuide);
        case WYE_FACT_KEY_SHARED_BANK_BYTES:
            return number(out, 4, kGuide);
        case WYE_FACT_KEY_FREE_MEMORY_BYTES:
            return number(out, d.free_bytes, "nvmlDeviceGetMemoryInfo");
        case WYE_FACT_KEY_TRANSFER_QUEUES:
            return number(out, d.copy_engines, "CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT");
        case sdk::facts::kF32ToF64Rate:
            return number(out, d.f32_to_f64_rate,
                          "CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO");
        case WYE_FACT_KEY_NATIVE_INT_BITS:
            return number(out, 32, kGuide);
        default:
            return WYE_UNSUPPORTED;
    }
}

}  // namespace

wye_status fact(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    if (!known(key)) return WYE_UNKNOWN_KEY;
    switch (key) {
        case WYE_FACT_KEY_GRID_SYNC:
            if (!d.cooperative) return WYE_UNSUPPORTED;
            return flag(out, true, "CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH");
        case WYE_FACT_KEY_INT64:
        case WYE_FACT_KEY_F64:
        case WYE_FACT_KEY_IEEE_F32:
        case WYE_FACT_KEY_IEEE_F64:
        case WYE_FACT_KEY_STORAGE8:
        case WYE_FACT_KEY_STORAGE16:
        case WYE_FACT_KEY_ATOMIC_INT32:
        case WYE_FACT_KEY_ATOMIC_INT64:
        case WYE_FACT_KEY_ATOMIC_INT64_SHARED:
        case WYE_FACT_KEY_ATOMIC_F32_ADD:
        case WYE_FACT_KEY_ATOMIC_F64_ADD:
        case WYE_FACT_KEY_BARRIER:
        case WYE_FACT_KEY_SUBGROUP:
        case WYE_FACT_KEY_DEVICE_TIMESTAMPS:
        case WYE_FACT_KEY_NATIVE_WAIT:  // cuStreamWaitEvent
        // Without --use_fast_math, the operations below are correctly rounded, as IEEE-754
        // requires.
        case WYE_FACT_KEY_NATIVE_F32_DIV:
        case WYE_FACT_KEY_NATIVE_F32_SQRT:
        case WYE_FACT_KEY_NATIVE_F32_FMA:
        case WYE_FACT_KEY_NATIVE_F64_DIV:
        case WYE_FACT_KEY_NATIVE_F64_SQRT:
        case WYE_FACT_KEY_NATIVE_F64_FMA:
        case WYE_FACT_KEY_NATIVE_F32_ROUND:
        case WYE_FACT_KEY_NATIVE_F64_ROUND:
        case WYE_FACT_KEY_KEEPS_F32_DENORMALS:
        case WYE_FACT_KEY_NATIVE_F16_CONVERT:
        case WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD:
        case WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD:
            return flag(out, true, kGuide);
        case WYE_FACT_KEY_FOLDS_LITERAL_ZERO:
            return flag(out, false, kGuide);
        case WYE_FACT_KEY_UNIFIED_MEMORY:
            return flag(out, d.integrated, "CU_DEVICE_ATTRIBUTE_INTEGRATED");
        default:
            break;
    }
    return key < WYE_FACT_KEY_VENDOR ? limit(d, key, out) : identity(d, key, out);
}

}  // namespace wye::cuda
