// SPDX-License-Identifier: Apache-2.0
//
// Declarations of built-in functions for PoCL. PoCL's compiler reads Clang's header of 18,000 lines
// for each program, which takes 90 ms, although lowered text calls only a few dozen functions.
// kBuiltins declares these functions with the header's attributes, and kWithoutHeader excludes the
// header by defining its include guard.
#pragma once

#include <string_view>

namespace wye::opencl {

// The option that the lowering adds to a text that calls only these built-in functions. (`as_T`
// and vector literals are always available, since they are macros and syntax.)
constexpr std::string_view kOwnBuiltins = "-DWYE_BUILTINS=1";
// Excludes Clang's header.
constexpr std::string_view kWithoutHeader = "-D_OPENCL_H_";

constexpr std::string_view kBuiltins = R"(
#define WYE_CONST __attribute__((overloadable, const))
#define WYE_PLAIN __attribute__((overloadable))
size_t WYE_CONST get_group_id(uint);
size_t WYE_CONST get_local_id(uint);
size_t WYE_CONST get_num_groups(uint);
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);
#define WYE_INTEGER(T) T WYE_CONST popcount(T); T WYE_CONST clz(T); T WYE_CONST mul_hi(T, T);
WYE_INTEGER(int) WYE_INTEGER(uint) WYE_INTEGER(long) WYE_INTEGER(ulong)
#define WYE_FLOAT(T) T WYE_CONST sqrt(T); T WYE_CONST fma(T, T, T); T WYE_CONST floor(T); \
    T WYE_CONST ceil(T); T WYE_CONST trunc(T); T WYE_CONST rint(T);
WYE_FLOAT(float)
float WYE_CONST rsqrt(float);
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
WYE_FLOAT(double)
#endif
#define WYE_ATOMIC_AT(S, P, T) \
    T WYE_PLAIN P##_add(volatile S T*, T); T WYE_PLAIN P##_xchg(volatile S T*, T); \
    T WYE_PLAIN P##_min(volatile S T*, T); T WYE_PLAIN P##_max(volatile S T*, T); \
    T WYE_PLAIN P##_and(volatile S T*, T); T WYE_PLAIN P##_or(volatile S T*, T); \
    T WYE_PLAIN P##_xor(volatile S T*, T); T WYE_PLAIN P##_cmpxchg(volatile S T*, T, T);
#define WYE_ATOMIC(P, T) WYE_ATOMIC_AT(__global, P, T) WYE_ATOMIC_AT(__local, P, T)
WYE_ATOMIC(atomic, int) WYE_ATOMIC(atomic, uint)
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
WYE_ATOMIC(atom, long) WYE_ATOMIC(atom, ulong)
#endif
)";

}  // namespace wye::opencl
