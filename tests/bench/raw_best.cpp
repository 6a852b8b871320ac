// SPDX-License-Identifier: Apache-2.0
#include "raw_kernels.hpp"

namespace wye::bench {

RawKernels raw_best() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return raw_avx512();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return raw_avx2();
#endif
    return raw_baseline();
}

}  // namespace wye::bench
