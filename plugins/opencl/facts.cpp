// SPDX-License-Identifier: Apache-2.0
//
// The facts of wye/abi.h, from the device's reports. A fact that the device does not report is
// absent.
#include <algorithm>

#include "opencl/discovery.hpp"
#include "opencl/quirks.hpp"
#include "opencl/self_test/f64_rate.hpp"
#include "wye/sdk/facts.hpp"

namespace wye::opencl {
namespace {

constexpr cl_device_fp_config kIeee = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
constexpr std::uint32_t kMostGroups = 0xffffffffU;
constexpr std::uint64_t kMaxQueues = 8;  // OpenCL has no limit

// Kernel arguments share one budget. A buffer takes an address and a count; 64 bytes are reserved
// for other arguments (grid, trap words, the opaque zero).
constexpr std::uint64_t kParamBytes = 512;
constexpr std::uint64_t kBytesPerBuffer = 16;
constexpr std::uint64_t kOtherArguments = 64;

using namespace sdk::facts;

wye_status limit(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    const std::uint64_t arguments = d.max_parameter_bytes;
    switch (key) {
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            return triple(out, {d.max_workgroup[0], d.max_workgroup[1], d.max_workgroup[2]},
                          "CL_DEVICE_MAX_WORK_ITEM_SIZES");
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return number(out, d.max_invocations, "CL_DEVICE_MAX_WORK_GROUP_SIZE");
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            // OpenCL's only limit is that a global size must fit the device's size_t.
            if (d.address_bits < 64) return triple(out, {65535, 65535, 65535}, "OpenCL 1.2");
            return triple(out, {kMostGroups, kMostGroups, kMostGroups}, "CL_DEVICE_ADDRESS_BITS");
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            return number(out, d.local_bytes, "CL_DEVICE_LOCAL_MEM_SIZE");
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            return number(out, std::min(kParamBytes, arguments / 2),
                          "CL_DEVICE_MAX_PARAMETER_SIZE");
        case WYE_FACT_KEY_MAX_BUFFERS:
            if (arguments <= kParamBytes + kOtherArguments)
                return number(out, arguments / 4 / kBytesPerBuffer, "CL_DEVICE_MAX_PARAMETER_SIZE");
            return number(out,
                          std::min<std::uint64_t>(
                              64, (arguments - kParamBytes - kOtherArguments) / kBytesPerBuffer),
                          "CL_DEVICE_MAX_PARAMETER_SIZE");
        case WYE_FACT_KEY_MAX_QUEUES:
            if (pocl_one_queue(d)) return WYE_UNSUPPORTED;
            return number(out, kMaxQueues, "clCreateCommandQueue");
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
            return number(out, d.max_alloc_bytes, "CL_DEVICE_MAX_MEM_ALLOC_SIZE");
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            return number(out, d.base_alignment_bits / 8, "CL_DEVICE_MEM_BASE_ADDR_ALIGN");
        case WYE_FACT_KEY_MEMORY_BYTES:
            return number(out, d.memory_bytes, "CL_DEVICE_GLOBAL_MEM_SIZE");
        default:
            return WYE_UNSUPPORTED;
    }
}

wye_status identity(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    switch (key) {
        case WYE_FACT_KEY_VENDOR:
            return text(out, d.vendor, "CL_DEVICE_VENDOR");
        case WYE_FACT_KEY_DRIVER:
            return text(out, d.driver_version, "CL_DRIVER_VERSION");
        case WYE_FACT_KEY_PLATFORM:
            return text(out, d.platform_name, "CL_PLATFORM_NAME");
        case WYE_FACT_KEY_API_VERSION:
            return text(out, d.version, "CL_DEVICE_VERSION");
        case WYE_FACT_KEY_DEVICE_KIND:
            return text(out, d.kind, "CL_DEVICE_TYPE");
        case WYE_FACT_KEY_PCI_ADDRESS:
            return text(out, d.pci_address, "pci bus info extension");
        case WYE_FACT_KEY_UUID:
            return text(out, d.uuid, "cl_khr_device_uuid");
        case WYE_FACT_KEY_LUID:
            return text(out, d.luid, "cl_khr_device_uuid");
        case WYE_FACT_KEY_VENDOR_ID:
            return number(out, d.vendor_id, "CL_DEVICE_VENDOR_ID");
        case WYE_FACT_KEY_HOST_PROCESSOR:
            return flag(out, d.kind == "cpu", "CL_DEVICE_TYPE");
        case WYE_FACT_KEY_CONFORMANCE_VERSION:
            return text(out, d.conformance, "CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED");
        case WYE_FACT_KEY_FREE_MEMORY_BYTES:
            return number(out, d.free_bytes, "CL_DEVICE_GLOBAL_FREE_MEMORY_AMD");
        case WYE_FACT_KEY_COMPUTE_UNITS:
            return number(out, d.compute_units, "CL_DEVICE_MAX_COMPUTE_UNITS");
        case WYE_FACT_KEY_CLOCK_HZ:
            return number(out, std::uint64_t{d.clock_mhz} * 1000000,
                          "CL_DEVICE_MAX_CLOCK_FREQUENCY");
        default:
            return WYE_UNSUPPORTED;
    }
}

}  // namespace

wye_status fact(const DeviceInfo& d, std::uint32_t key, wye_fact& out) {
    if (!known(key)) return WYE_UNKNOWN_KEY;
    const std::string_view single = "CL_DEVICE_SINGLE_FP_CONFIG";
    const std::string_view twice = "CL_DEVICE_DOUBLE_FP_CONFIG";
    const bool int64_atomics = d.has_extension("cl_khr_int64_base_atomics") &&
                               d.has_extension("cl_khr_int64_extended_atomics");
    switch (key) {
        case WYE_FACT_KEY_INT64:
            return flag(out, d.full_profile || d.has_extension("cles_khr_int64"), "OpenCL C 1.2");
        case WYE_FACT_KEY_F64:
            return flag(out, d.has_f64(), twice);
        case WYE_FACT_KEY_IEEE_F32:
            return flag(out, (d.single_config & kIeee) == kIeee, single);
        case WYE_FACT_KEY_IEEE_F64:
            return flag(out, (d.double_config & kIeee) == kIeee, twice);
        case WYE_FACT_KEY_STORAGE8:
        case WYE_FACT_KEY_STORAGE16:
        case WYE_FACT_KEY_ATOMIC_INT32:
        case WYE_FACT_KEY_BARRIER:
        case WYE_FACT_KEY_DEVICE_TIMESTAMPS:
        case WYE_FACT_KEY_NATIVE_WAIT:
            return flag(out, true, "OpenCL 1.2");
        case WYE_FACT_KEY_ATOMIC_INT64:
        case WYE_FACT_KEY_ATOMIC_INT64_SHARED:
            return flag(out, int64_atomics, "CL_DEVICE_EXTENSIONS");
        // The following two are emulated by compare-and-exchange.
        case WYE_FACT_KEY_ATOMIC_F32_ADD:
            return flag(out, (d.single_config & kIeee) == kIeee, single);
        case WYE_FACT_KEY_ATOMIC_F64_ADD:
            return flag(out, int64_atomics && (d.double_config & kIeee) == kIeee, twice);
        case WYE_FACT_KEY_WORKGROUP_LOOPS:
            return flag(out, d.kind == "cpu", "CL_DEVICE_TYPE");
        case WYE_FACT_KEY_UNIFIED_MEMORY:
            return flag(out, d.unified_memory, "CL_DEVICE_HOST_UNIFIED_MEMORY");
        case WYE_FACT_KEY_NATIVE_F32_DIV:
        case WYE_FACT_KEY_NATIVE_F32_SQRT:
            return flag(out, d.rounds_f32_division(), single);
        case WYE_FACT_KEY_NATIVE_F32_FMA:
            return flag(out, (d.single_config & CL_FP_FMA) != 0, single);
        case WYE_FACT_KEY_NATIVE_F64_DIV:
        case WYE_FACT_KEY_NATIVE_F64_SQRT:
        case WYE_FACT_KEY_NATIVE_F64_FMA:  // OpenCL requires it wherever f64 is supported
        case WYE_FACT_KEY_NATIVE_F64_ROUND:
            return flag(out, d.has_f64(), "OpenCL C 1.2");
        case WYE_FACT_KEY_NATIVE_F32_ROUND:
            return flag(out, true, "OpenCL C 1.2");
        case WYE_FACT_KEY_FOLDS_LITERAL_ZERO:
            return flag(out, false, "OpenCL C 1.2");
        case kF32ToF64Rate:
            return number(out, d.f64_rate->of(d), "measured");
        default:
            break;
    }
    return key < WYE_FACT_KEY_VENDOR ? limit(d, key, out) : identity(d, key, out);
}

}  // namespace wye::opencl
