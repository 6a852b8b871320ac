// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/isa.hpp"

namespace wye::cpu {
namespace {

#if defined(WYE_CPU_AVX2) || defined(WYE_CPU_AVX512)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
           __builtin_cpu_supports("popcnt") != 0;
}
#endif
#if defined(WYE_CPU_AVX512)
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512cd") != 0;
}
#endif

}  // namespace

const KernelSet* kernels_named(std::string_view name) {
    if (name == "baseline") return baseline_kernels();
#if defined(WYE_CPU_AVX2)
    if (name == "avx2" && has_avx2()) return avx2_kernels();
#endif
#if defined(WYE_CPU_AVX512)
    if (name == "avx512" && has_avx512()) return avx512_kernels();
#endif
    return nullptr;
}

const KernelSet& best_kernels() {
    for (const std::string_view name : {"avx512", "avx2"})
        if (const KernelSet* set = kernels_named(name)) return *set;
    return *baseline_kernels();
}

std::string_view isa_names() {
    const bool avx2 = kernels_named("avx2") != nullptr;
    if (kernels_named("avx512") != nullptr)
        return avx2 ? "baseline, avx2, avx512" : "baseline, avx512";
    return avx2 ? "baseline, avx2" : "baseline";
}

}  // namespace wye::cpu
