// SPDX-License-Identifier: Apache-2.0
//
// A program of the format `opencl-c`, to which the host lowers. plugin-formats.md says how to call
// a kernel: its argument k is slot k of the artifact. Here clang compiles the program for the
// host's processor, and the functions below are the program's built-in functions.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "compiler.hpp"
#include "queue.hpp"

namespace driver {

inline constexpr std::string_view kFormat = WYE_FORMAT_OPENCL_C;

// The capabilities of the device, for programs and for lowering. Claim only what works (P-19).
inline constexpr std::uint32_t kCapabilities[] = {
    WYE_FACT_KEY_INT64,           WYE_FACT_KEY_F64,
    WYE_FACT_KEY_IEEE_F32,        WYE_FACT_KEY_IEEE_F64,
    WYE_FACT_KEY_STORAGE8,        WYE_FACT_KEY_STORAGE16,
    WYE_FACT_KEY_ATOMIC_INT32,    WYE_FACT_KEY_ATOMIC_INT64,
    WYE_FACT_KEY_BARRIER,         WYE_FACT_KEY_ATOMIC_INT64_SHARED,
    WYE_FACT_KEY_WORKGROUP_LOOPS, WYE_FACT_KEY_KEEPS_F32_DENORMALS,
    WYE_FACT_KEY_NATIVE_F32_DIV,  WYE_FACT_KEY_NATIVE_F32_SQRT,
    WYE_FACT_KEY_NATIVE_F32_FMA,  WYE_FACT_KEY_NATIVE_F32_ROUND,
    WYE_FACT_KEY_NATIVE_F64_DIV,  WYE_FACT_KEY_NATIVE_F64_SQRT,
    WYE_FACT_KEY_NATIVE_F64_FMA,  WYE_FACT_KEY_NATIVE_F64_ROUND,
    WYE_FACT_KEY_ATOMIC_F32_ADD,  WYE_FACT_KEY_ATOMIC_F64_ADD,
};

// The text before the program: types and built-in functions of OpenCL C. One thread runs a
// workgroup, so local memory is ordinary memory.
inline constexpr std::string_view kBefore = R"(
typedef unsigned char uchar; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong; typedef ulong size_t;
#define VECTORS(T) typedef T T##2 __attribute__((ext_vector_type(2))); \
                   typedef T T##4 __attribute__((ext_vector_type(4)));
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint)
VECTORS(long) VECTORS(ulong) VECTORS(float) VECTORS(double)
#define __kernel
#define __global
#define __local
#define reqd_work_group_size(x, y, z) unused
#define as_int(x) __builtin_astype(x, int)
#define as_uint(x) __builtin_astype(x, uint)
#define as_long(x) __builtin_astype(x, long)
#define as_ulong(x) __builtin_astype(x, ulong)
#define as_float(x) __builtin_astype(x, float)
#define as_double(x) __builtin_astype(x, double)
#define as_uchar4(x) __builtin_astype(x, uchar4)
size_t get_group_id(uint); size_t get_num_groups(uint);
size_t get_local_id(uint); size_t get_local_size(uint); size_t get_global_id(uint);
#define BUILTIN static __attribute__((overloadable, unused))
#define INTEGER(T, U, W, N, S) \
    BUILTIN T popcount(T x) { return __builtin_popcount##S((U)x); } \
    BUILTIN T clz(T x) { return x == 0 ? N : __builtin_clz##S((U)x); } \
    BUILTIN T mul_hi(T x, T y) { return (T)(((W)x * (W)y) >> N); }
INTEGER(int, uint, long, 32, ) INTEGER(uint, uint, ulong, 32, )
INTEGER(long, ulong, __int128, 64, l) INTEGER(ulong, ulong, unsigned __int128, 64, l)
#define FLOAT1(name) double name(double); float name##f(float); \
    BUILTIN float name(float x) { return name##f(x); }
#define FLOAT2(name) double name(double, double); float name##f(float, float); \
    BUILTIN float name(float x, float y) { return name##f(x, y); }
FLOAT1(sqrt) FLOAT1(floor) FLOAT1(ceil) FLOAT1(trunc) FLOAT1(rint) FLOAT1(exp) FLOAT1(exp2)
FLOAT1(exp10) FLOAT1(log) FLOAT1(log2) FLOAT1(log10) FLOAT1(sin) FLOAT1(cos) FLOAT1(tan)
FLOAT1(asin) FLOAT1(acos) FLOAT1(atan) FLOAT1(sinh) FLOAT1(cosh) FLOAT1(tanh) FLOAT1(cbrt)
FLOAT1(erf) FLOAT1(expm1) FLOAT1(log1p) FLOAT2(atan2) FLOAT2(pow) FLOAT2(hypot)
double fma(double, double, double); float fmaf(float, float, float);
BUILTIN float fma(float x, float y, float z) { return fmaf(x, y, z); }
BUILTIN float rsqrt(float x) { return (float)(1.0 / sqrt((double)x)); }
BUILTIN double rsqrt(double x) { return 1.0 / sqrt(x); }
BUILTIN double sinpi(double x) {
    double r = x - 2.0 * rint(x * 0.5), q = rint(2.0 * r), a = 3.141592653589793 * (r - 0.5 * q);
    return q == 0.0 ? sin(a) : q == 1.0 ? cos(a) : q == -1.0 ? -cos(a) : -sin(a); }
BUILTIN double cospi(double x) {
    double r = x - 2.0 * rint(x * 0.5), q = rint(2.0 * r), a = 3.141592653589793 * (r - 0.5 * q);
    return q == 0.0 ? cos(a) : q == 1.0 ? -sin(a) : q == -1.0 ? sin(a) : -cos(a); }
BUILTIN float sinpi(float x) { return (float)sinpi((double)x); }
BUILTIN float cospi(float x) { return (float)cospi((double)x); }
#define ATOMICS(P, T) \
    BUILTIN T P##_add(volatile T* p, T x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_min(volatile T* p, T x) { return __atomic_fetch_min(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_max(volatile T* p, T x) { return __atomic_fetch_max(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_and(volatile T* p, T x) { return __atomic_fetch_and(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_or(volatile T* p, T x) { return __atomic_fetch_or(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_xor(volatile T* p, T x) { return __atomic_fetch_xor(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_xchg(volatile T* p, T x) { return __atomic_exchange_n(p, x, __ATOMIC_RELAXED); } \
    BUILTIN T P##_cmpxchg(volatile T* p, T x, T y) { \
        __atomic_compare_exchange_n(p, &x, y, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); return x; }
ATOMICS(atomic, int) ATOMICS(atomic, uint) ATOMICS(atom, long) ATOMICS(atom, ulong)
#line 1 "program"
)";

// Runs the kernel for each invocation of each workgroup. This part is C, since OpenCL C has no
// thread-local variables.
inline constexpr std::string_view kLoop = R"(
static _Thread_local unsigned group[3], local[3], groups[3], size[3];
unsigned long get_group_id(unsigned axis) { return axis < 3 ? group[axis] : 0; }
unsigned long get_num_groups(unsigned axis) { return axis < 3 ? groups[axis] : 1; }
unsigned long get_local_id(unsigned axis) { return axis < 3 ? local[axis] : 0; }
unsigned long get_local_size(unsigned axis) { return axis < 3 ? size[axis] : 1; }
unsigned long get_global_id(unsigned axis) {
    return get_group_id(axis) * get_local_size(axis) + get_local_id(axis);
}
void acme_invocation(void* const* arguments);
void acme_launch(void* const* arguments, const unsigned* all, const unsigned* each) {
    for (int axis = 0; axis < 3; ++axis) groups[axis] = all[axis], size[axis] = each[axis];
    for (group[2] = 0; group[2] < all[2]; ++group[2])
    for (group[1] = 0; group[1] < all[1]; ++group[1])
    for (group[0] = 0; group[0] < all[0]; ++group[0])
    for (local[2] = 0; local[2] < each[2]; ++local[2])
    for (local[1] = 0; local[1] < each[1]; ++local[1])
    for (local[0] = 0; local[0] < each[0]; ++local[0])
        acme_invocation(arguments);
}
)";

// The tools that programs need.
using Tools = Compiler;
inline constexpr std::string_view kToolsMissing = "its compiler is not installed";
inline constexpr std::string_view kToolsFix =
    "Fix: install the compiler, or name another one with `acme.compiler`";

class Program {
  public:
    Program(Compiler& compiler, const wye_artifact& artifact)
        : slots_(artifact.slots, artifact.slots + artifact.slot_count),
          params_size_(artifact.params_size) {
        refuse_unknown(artifact.header, artifact.flags, "an artifact");
        check_format(artifact, kFormat);
        check_slots(slots_);
        std::copy_n(artifact.workgroup_size, 3, workgroup_.begin());
        const std::string entry = from_abi(artifact.entry);
        const std::string text(static_cast<const char*>(artifact.code.data), artifact.code.size);
        std::string source(kBefore);
        // The device claims `workgroup_loops`, so only code for a workgroup of one invocation may
        // have barriers. There, a barrier does nothing.
        if (workgroup_ == std::array<unsigned, 3>{1, 1, 1})
            source.insert(0, "#define barrier(flags)\n#define CLK_LOCAL_MEM_FENCE\n");
        source += text + "\nvoid acme_invocation(void* const* a) {\n    " + entry + "(";
        for (std::size_t k = 0; k < slots_.size(); ++k)
            source += (k == 0 ? "" : ", ") + argument(text, entry, k);
        source += ");\n}\n";
        std::vector<std::string> options = {"-cl-no-stdinc", "-ffp-contract=off", "-fno-math-errno",
                                            "-fno-strict-aliasing"};
        // Leaves out the option for OpenCL C 1.2: this version is clang's default, and the option
        // would also apply to kLoop, which is C.
        std::istringstream given(from_abi(artifact.options));
        for (std::string option; given >> option;)
            if (option != "-cl-std=CL1.2") options.push_back(option);
        module_ = compiler.compile(options,
                                   std::vector<Source>{{"cl", source}, {"c", std::string(kLoop)}});
        launch_ = module_->function<Launch>("acme_launch");
    }

    // Prepares a launch. The host destroys the program after the end of the launch.
    [[nodiscard]] Operation launch(const wye_dispatch_op& op) const {
        std::array<unsigned, 3> groups{};
        std::copy_n(op.groups, 3, groups.begin());
        return [this, groups, arguments = Arguments(slots_, params_size_, op)]() mutable {
            launch_(arguments.addresses().data(), groups.data(), workgroup_.data());
        };
    }

  private:
    using Launch = void(void* const* arguments, const unsigned* groups, const unsigned* size);

    // Returns the expression for the kernel's argument k, from the list of pointers `a`. A buffer
    // is the pointer itself; a value is read through the pointer, with the parameter's type.
    [[nodiscard]] std::string argument(const std::string& text, const std::string& entry,
                                       std::size_t k) const {
        const std::string given = "a[" + std::to_string(k) + "]";
        switch (slots_[k].kind) {
            case WYE_SLOT_BUFFER:
            case WYE_SLOT_TRAP:
                return given;
            case WYE_SLOT_LENGTH:
            case WYE_SLOT_OPAQUE_ZERO:
                return "*(const ulong*)" + given;
            default:
                return "*(" + type_of(text, entry, k) + "*)" + given;
        }
    }

    // Returns the type of parameter k of the kernel, such as `const struct wye_params` for "void
    // wye_main(..., const struct wye_params p)".
    static std::string type_of(const std::string& text, const std::string& entry, std::size_t k) {
        std::size_t at = text.find("void " + entry + "(");
        for (std::size_t comma = 0; at != std::string::npos && comma <= k; ++comma)
            at = text.find_first_of(comma == 0 ? "(" : ",)", at + (comma == 0 ? 0 : 1));
        const std::size_t end = at == std::string::npos ? at : text.find_first_of(",)", at + 1);
        if (end == std::string::npos)
            throw Failure{
                WYE_COMPILE_FAILED,
                "the program has no kernel `" + entry + "` with an argument " + std::to_string(k),
                "Fix: give the kernel the arguments of plugin-formats.md",
                {}};
        const std::string declared = text.substr(at + 1, end - at - 1);
        const std::size_t name = declared.find_last_of(" \n*");
        return declared.substr(0, name == std::string::npos ? name : name + 1);
    }

    std::vector<wye_slot> slots_;
    std::array<unsigned, 3> workgroup_{};
    std::uint32_t params_size_;
    std::shared_ptr<const Module> module_;
    Launch* launch_ = nullptr;
};

}  // namespace driver
