// SPDX-License-Identifier: Apache-2.0
#include "cpu/discovery.hpp"

#include "wye/program_format.h"
#include "wye/sdk/facts.hpp"

namespace wye::cpu {
namespace {

using namespace sdk::facts;

constexpr std::uint64_t kSubgroupSizes[] = {4, 8, 16, 32, 64, 128};
// Private memory of an invocation. In the largest workgroup, all invocations together use half of
// kLaneMemory, the memory that the registers of a block may take (compile/statements.cpp).
constexpr std::uint64_t kPrivateBytes = std::uint64_t{128} << 10;
constexpr std::uint64_t kMaxQueues = 8;  // each queue has a thread
constexpr std::uint64_t kParamBytes = std::uint64_t{WYE_LIMIT_PARAMS} * 8;

}  // namespace

wye_status fact(const DeviceInfo& info, std::uint32_t key, wye_fact& out) {
    switch (key) {
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
        case WYE_FACT_KEY_UNIFIED_MEMORY:
        case WYE_FACT_KEY_INDIRECT_DISPATCH:
        case WYE_FACT_KEY_DEVICE_TIMESTAMPS:  // taken from the host's clock
        case WYE_FACT_KEY_NATIVE_F32_DIV:
        case WYE_FACT_KEY_NATIVE_F32_SQRT:
        case WYE_FACT_KEY_NATIVE_F32_FMA:
        case WYE_FACT_KEY_NATIVE_F64_DIV:
        case WYE_FACT_KEY_NATIVE_F64_SQRT:
        case WYE_FACT_KEY_NATIVE_F64_FMA:
        case WYE_FACT_KEY_NATIVE_F32_ROUND:
        case WYE_FACT_KEY_NATIVE_F64_ROUND:
        case WYE_FACT_KEY_WORKGROUP_LOOPS:
        case WYE_FACT_KEY_HOST_PROCESSOR:
            return flag(out, true);
        case WYE_FACT_KEY_FOLDS_LITERAL_ZERO:
            return flag(out, false);
        case WYE_FACT_KEY_MAX_WORKGROUP_SIZE:
            return triple(out, {WYE_LIMIT_WORKGROUP, WYE_LIMIT_WORKGROUP, WYE_LIMIT_WORKGROUP});
        case WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS:
            return number(out, WYE_LIMIT_WORKGROUP);
        case WYE_FACT_KEY_MAX_WORKGROUPS:
            return triple(out, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
        case WYE_FACT_KEY_MAX_SHARED_BYTES:
            return number(out, WYE_LIMIT_SHARED_BYTES);
        case WYE_FACT_KEY_MAX_PRIVATE_BYTES:
            return number(out, kPrivateBytes);
        case WYE_FACT_KEY_MAX_PARAM_BYTES:
            return number(out, kParamBytes);
        case WYE_FACT_KEY_MAX_BUFFERS:
            return number(out, WYE_LIMIT_BUFFERS);
        case WYE_FACT_KEY_MAX_QUEUES:
            return number(out, kMaxQueues);
        case WYE_FACT_KEY_MAX_BUFFER_BYTES:
        case WYE_FACT_KEY_MEMORY_BYTES:
            return number(out, info.memory_bytes, info.memory_source);
        case WYE_FACT_KEY_PHYSICAL_MEMORY_BYTES:
            return number(out, info.physical_bytes, "sysconf(_SC_PHYS_PAGES)");
        case WYE_FACT_KEY_FREE_MEMORY_BYTES:
            return number(out, info.free_at_probe, "MemAvailable and the control group");
        case WYE_FACT_KEY_ONLINE_PROCESSORS:
            return number(out, info.online, "sysconf(_SC_NPROCESSORS_ONLN)");
        case WYE_FACT_KEY_PROCESSOR_QUOTA:
            return real(out, info.quota, "time limit of the control group");
        case WYE_FACT_KEY_NUMA_NODE:
            if (!info.numa) return WYE_UNSUPPORTED;
            return ordinal(out, *info.numa, "/sys/devices/system/node");
        case WYE_FACT_KEY_BUFFER_ALIGNMENT:
            return number(out, 1);
        case WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT:
            return number(out, info.host_memory_alignment());
        case WYE_FACT_KEY_SUBGROUP_SIZES:
            return list(out, kSubgroupSizes);
        case WYE_FACT_KEY_VENDOR:
            return text(out, info.vendor);
        case WYE_FACT_KEY_PLATFORM:
            return text(out, "Wye CPU");
        case WYE_FACT_KEY_DEVICE_KIND:
            return text(out, "cpu");
        case WYE_FACT_KEY_ISA:
            return text(out, info.isa);
        case WYE_FACT_KEY_COMPUTE_UNITS:
            return number(out, info.threads, "sched_getaffinity");
        case WYE_FACT_KEY_L1_CACHE_BYTES:
            return number(out, info.l1_bytes, "sysconf(_SC_LEVEL1_DCACHE_SIZE)");
        case WYE_FACT_KEY_L2_CACHE_BYTES:
            return number(out, info.l2_bytes, "sysconf(_SC_LEVEL2_CACHE_SIZE)");
        case WYE_FACT_KEY_L3_CACHE_BYTES:
            return number(out, info.l3_bytes, "sysconf(_SC_LEVEL3_CACHE_SIZE)");
        case WYE_FACT_KEY_IDEAL_VECTOR_BITS:
            return number(out, info.isa == "avx512" ? 512 : info.isa == "avx2" ? 256 : 128, "isa");
        case WYE_FACT_KEY_NATIVE_INT_BITS:
            return number(out, 64, "isa");
        default:
            return known(key) ? WYE_UNSUPPORTED : WYE_UNKNOWN_KEY;
    }
}

}  // namespace wye::cpu
