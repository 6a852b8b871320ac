// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++17 without headers, for NVRTC. With the options below, every float operation conforms to
// IEEE 754: correctly rounded division and square root, subnormals kept, no contraction.
#include "lower/c/spelling.hpp"
#include "lower/lower.hpp"
#include "wye/sdk/lasting.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

bool wide(Kind kind) { return kind == Kind::I64 || kind == Kind::U64 || kind == Kind::F64; }

class CudaC final : public Spelling {
  public:
    std::string_view type(Kind kind) const override {
        static constexpr std::string_view kNames[] = {// by Kind
                                                      "void", "bool", "i32",   "u32",    "i64",
                                                      "u64",  "u16",  "float", "double", "i8",
                                                      "u8",   "i16",  "u16",   "u16"};
        return kNames[static_cast<std::size_t>(kind)];
    }

    // CUDA's own vector types of 32 bytes have a smaller alignment than the language's elements.
    std::string vector_type(ir::Type type_) const override {
        return "vec" + std::to_string(type_.lanes) + "<" + std::string(type(type_.kind)) + ">";
    }
    std::string make_vector(ir::Type type_, std::span<const std::string> parts) const override {
        std::string out = call(vector_type(type_), parts);
        out[out.find('(')] = '{';
        out.back() = '}';
        return out;
    }
    std::string_view u64_suffix() const override { return "ull"; }

    std::string_view format() const override { return WYE_FORMAT_CUDA_C; }
    std::string prologue(const Used&) const override {
        return "typedef signed char i8;\ntypedef unsigned char u8;\n"
               "typedef short i16;\ntypedef unsigned short u16;\n"
               "typedef int i32;\ntypedef unsigned int u32;\n"
               "typedef long long i64;\ntypedef unsigned long long u64;\n"
               "template <typename T> struct alignas(2 * sizeof(T)) vec2 { T x, y; };\n"
               "template <typename T> struct alignas(4 * sizeof(T)) vec4 { T x, y, z, w; };\n";
    }
    // The text relies on the first five options; of these, all but --fmad are NVRTC's defaults.
    // --minimal omits declarations that the text does not use (textures, the runtime API). This
    // saves a tenth of the compile time of a small program.
    std::string options(const Used&) const override {
        return "--std=c++17 --fmad=false --ftz=false --prec-div=true --prec-sqrt=true -w --minimal";
    }

    std::string_view function_prefix() const override { return "static __device__ "; }
    std::string kernel_head(std::string_view entry,
                            std::array<std::uint32_t, 3> workgroup) const override {
        const std::uint64_t size = std::uint64_t{workgroup[0]} * workgroup[1] * workgroup[2];
        return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(size) + ") " +
               std::string(entry);
    }
    // Only memory that no invocation writes is `__restrict__`. The qualifier also promises that no
    // other invocation writes the memory, so it would let loads of writable memory move across
    // barriers.
    std::string pointer(Space, std::string_view element, bool readonly,
                        bool restrict_) const override {
        return std::string(readonly ? "const " : "") + std::string(element) +
               (readonly && restrict_ ? "* __restrict__" : "*");
    }
    std::string volatile_pointer(Space, std::string_view element) const override {
        return "volatile " + std::string(element) + "*";
    }
    std::string shared_array(std::string_view element, std::string_view name, std::uint64_t count,
                             unsigned alignment) const override {
        return "__shared__ " +
               (alignment != 0 ? "__align__(" + std::to_string(alignment) + ") " : std::string()) +
               std::string(element) + " " + std::string(name) + "[" + std::to_string(count) + "]";
    }
    std::uint64_t max_static_shared() const override { return 48U << 10U; }
    std::string shared_block() const override {
        return "extern __shared__ __align__(16) u8 shared_block[]";
    }
    std::string shared_part(std::string_view element, std::string_view name,
                            std::uint64_t offset) const override {
        return std::string(element) + "* const " + std::string(name) + " = (" +
               std::string(element) + "*)(shared_block + " + std::to_string(offset) + ")";
    }
    std::string constant_array(std::string_view element, std::string_view name,
                               std::uint64_t count) const override {
        return "static __constant__ " + std::string(element) + " " + std::string(name) + "[" +
               std::to_string(count) + "]";
    }
    bool addresses_constants() const override { return true; }

    std::string group_id(unsigned axis) const override { return axis_of("blockIdx", axis); }
    std::string local_id(unsigned axis) const override { return axis_of("threadIdx", axis); }
    std::string num_groups(unsigned axis) const override { return axis_of("gridDim", axis); }
    std::string_view barrier(bool) const override { return "__syncthreads();"; }
    // One invocation of each workgroup adds 1 to words[0]. The last to arrive resets words[0] and
    // adds 1 to words[1], for which all others wait. The fences make the writes of the workgroup
    // visible before it arrives, and keep the workgroup from reading old bytes afterwards.
    std::string_view grid_barrier() const override {
        return "{\n"
               "    __syncthreads();\n"
               "    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0u) {\n"
               "        volatile u32* const round = words + 1;\n"
               "        const u32 now = *round;\n"
               "        __threadfence();\n"
               "        if (atomicAdd(words, 1u) == gridDim.x * gridDim.y * gridDim.z - 1u) {\n"
               "            atomicExch(words, 0u);\n"
               "            __threadfence();\n"
               "            atomicAdd(words + 1, 1u);\n"
               "        } else {\n"
               "            while (*round == now) {}\n"
               "        }\n"
               "        __threadfence();\n"
               "    }\n"
               "    __syncthreads();\n"
               "}\n";
    }
    std::string_view subgroup_wait() const override { return "__syncwarp();"; }
    // Without a mask, the compiler removes the wait where it believes that all lanes are present.
    std::string done_together(const std::string& statement) const override {
        return "{ const u32 lanes = __activemask(); " + statement + " __syncwarp(lanes); }";
    }

    std::string move_bytes(const std::string& word, const std::array<int, 4>& from) const override {
        std::string chosen;
        for (const int byte : from)
            chosen.insert(chosen.begin(), static_cast<char>('0' + (byte < 0 ? 4 : byte)));
        return "__byte_perm(" + word + ", 0u, 0x" + chosen + "u)";
    }

    std::string intrinsic(Intrinsic what, Kind kind,
                          std::span<const std::string> operands) const override {
        const bool is_wide = wide(kind);
        const bool is_signed = kind == Kind::I32 || kind == Kind::I64;
        const auto word = [&](std::string_view narrow_name, std::string_view wide_name) {
            return call(is_wide ? wide_name : narrow_name, operands);
        };
        const std::string held = "(" + std::string(value_type(kind)) + ")";
        switch (what) {
            case Intrinsic::PopCount:
                return held + word("__popc", "__popcll");
            case Intrinsic::Clz:
                return held + word("__clz", "__clzll");
            case Intrinsic::MulHi:
                return is_signed ? word("__mulhi", "__mul64hi") : word("__umulhi", "__umul64hi");
            case Intrinsic::Sqrt:
                return word("__fsqrt_rn", "__dsqrt_rn");
            case Intrinsic::Fma:
                return word("__fmaf_rn", "__fma_rn");
            case Intrinsic::Floor:
                return word("floorf", "floor");
            case Intrinsic::Ceil:
                return word("ceilf", "ceil");
            case Intrinsic::Trunc:
                return word("truncf", "trunc");
            case Intrinsic::Rint:
                return word("rintf", "rint");
            case Intrinsic::FloatBits:
                return (is_wide ? "(u64)" : "") + word("__float_as_uint", "__double_as_longlong");
            case Intrinsic::BitsFloat:
                return word("__uint_as_float", "__longlong_as_double");
        }
        return {};
    }

    bool exact(Rounded, const TargetFacts&) const override { return true; }
    // PTX ISA: a relative error of at most 2^-22.9. The form without `.ftz` handles subnormals,
    // which do not occur here, and takes more instructions.
    std::string_view near_inverse_root() const override { return "rsqrt.approx.ftz.f32"; }

    std::string own(middle::FormKey key, QuirkSet quirks) const override {
        using middle::conversion;
        using middle::operation;
        constexpr Kind kIntegers[] = {Kind::I32, Kind::U32, Kind::I64, Kind::U64};
        for (const Kind kind : kIntegers) {
            if (key == operation(Op::REVERSE_BITS, kind)) return reversed(kind);
            if (key == conversion(Kind::F32, kind)) return saturated(Kind::F32, kind);
            if (key == conversion(Kind::F64, kind)) return saturated(Kind::F64, kind);
        }
        for (const Kind kind : {Kind::F32, Kind::F64})
            for (const Op op : {Op::MIN, Op::MAX, Op::CLAMP})
                if (key == operation(op, kind) || key == middle::exact_operation(op, kind))
                    return extreme(op, kind, quirks);
        return half(key);
    }

    // A warp has 32 threads, in the order of the local index. Control flow is uniform in a warp, so
    // all lanes take part.
    bool subgroups(unsigned width) const override { return width == 32; }
    std::string shuffle(Kind, unsigned, const std::string& value,
                        const std::string& lane) const override {
        const std::string operands[] = {"0xffffffffu", value, lane};
        return call("__shfl_sync", operands);
    }
    std::string shuffle_xor(Kind, unsigned, const std::string& value,
                            const std::string& mask) const override {
        const std::string operands[] = {"0xffffffffu", value, mask};
        return call("__shfl_xor_sync", operands);
    }
    std::string ballot(unsigned, unsigned, const std::string& condition) const override {
        const std::string operands[] = {"0xffffffffu", condition};
        return call("__ballot_sync", operands);
    }

    // An f32 add may flush subnormals in global memory, which the language allows.
    bool adds_floats() const override { return true; }

    // Atomics are relaxed and have device scope; for `shared` the compiler infers the address
    // space. Aligned loads and stores cannot tear; `volatile` keeps the compiler from removing
    // them.
    std::string atomic(Op op, Kind kind, Space space, const std::string& pointer_text,
                       std::span<const std::string> operands) const override {
        const std::string held(value_type(kind));
        if (op == Op::ATOMIC_LOAD) return "*(" + volatile_pointer(space, held) + ")" + pointer_text;
        if (op == Op::ATOMIC_STORE)
            return "*(" + volatile_pointer(space, held) + ")" + pointer_text + " = " + operands[0];
        const bool ordered = op == Op::ATOMIC_MIN || op == Op::ATOMIC_MAX;
        if (ordered && (kind == Kind::I32 || kind == Kind::I64)) {
            const std::string own(type(kind));
            const std::string signed_operands[] = {"(" + own + "*)" + pointer_text,
                                                   "(" + own + ")" + operands[0]};
            return "(" + held + ")" + call(atomic_name(op), signed_operands);
        }
        std::vector<std::string> all = {pointer_text};
        all.insert(all.end(), operands.begin(), operands.end());
        return call(atomic_name(op), all);
    }

    std::string_view endless_mark() const override { return "asm volatile(\"\");"; }

  private:
    std::string reversed(Kind kind) const {
        return "    return (" + std::string(value_type(kind)) + ")" +
               (wide(kind) ? "__brevll(a);\n" : "__brev(a);\n");
    }
    // PTX's min and max are minimumNumber and maximumNumber: a NaN operand is ignored, and -0 < +0.
    // So are the C functions fmin and fmax, except where the quirk `nvvm-zero-extremes` applies.
    std::string extreme(Op op, Kind kind, QuirkSet quirks) const {
        const std::string name = op == Op::MIN ? "min" : "max";
        if (quirks.has(Quirk::NvvmZeroExtremes))
            return (op == Op::CLAMP
                        ? ptx(kind, "max", "t", "a", "b") + ptx(kind, "min", "r", "t", "c")
                        : ptx(kind, name, "r", "a", "b")) +
                   "    return r;\n";
        const std::string open = wide(kind) ? "(" : "f(";
        if (op == Op::CLAMP) return "    return fmin" + open + "fmax" + open + "a, b), c);\n";
        return "    return f" + name + open + "a, b);\n";
    }
    // CUDA's conversions saturate, as the language demands. But those from f64 or to 64 bits do not
    // turn NaN into 0.
    std::string saturated(Kind from, Kind to) const {
        static constexpr std::string_view kTo[4] = {"int", "uint", "ll", "ull"};
        const bool is_signed = to == Kind::I32 || to == Kind::I64;
        std::string text = "(" + std::string(value_type(to)) + ")" +
                           (from == Kind::F64 ? "__double2" : "__float2") +
                           std::string(kTo[(wide(to) ? 2 : 0) + (is_signed ? 0 : 1)]) + "_rz(a)";
        if (from == Kind::F64 || wide(to)) text = "a == a ? " + text + " : 0u";
        return "    return " + text + ";\n";
    }
    // PTX's conversion to f16 turns NaN into 0x7fff.
    static std::string half(middle::FormKey key) {
        const std::string to_bits =
            "    u16 h;\n    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(a));\n";
        const std::string to_value =
            "    float f;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h));\n    return "
            "f;\n";
        if (key == middle::conversion(Kind::F32, Kind::F16)) return to_bits + to_value;
        if (key == middle::stored(Kind::F16))
            return to_bits + "    return (h & 0x7fffu) > 0x7c00u ? 0x7e00u : h;\n";
        if (key == middle::loaded(Kind::F16)) return "    const u16 h = (u16)a;\n" + to_value;
        return {};
    }
    static std::string axis_of(const char* vector, unsigned axis) {
        return std::string(vector) + "." + "xyz"[axis];
    }
    // Returns a statement that sets `to` to name(x, y) by one PTX instruction.
    std::string ptx(Kind kind, const std::string& name, const std::string& to, const std::string& x,
                    const std::string& y) const {
        const std::string letter = wide(kind) ? "d" : "f";
        return "    " + std::string(value_type(kind)) + " " + to + ";\n    asm(\"" + name +
               (wide(kind) ? ".f64" : ".f32") + " %0, %1, %2;\" : \"=" + letter + "\"(" + to +
               ") : \"" + letter + "\"(" + x + "), \"" + letter + "\"(" + y + "));\n";
    }
    static std::string_view atomic_name(Op op) {
        static constexpr std::string_view kNames[] = {// from ATOMIC_EXCHANGE
                                                      "atomicExch", "atomicAdd", "atomicMin",
                                                      "atomicMax",  "atomicAnd", "atomicOr",
                                                      "atomicXor",  "atomicCAS"};
        return kNames[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::ATOMIC_EXCHANGE)];
    }
};

}  // namespace

const Spelling& cuda_c() {
    static const sdk::Lasting<const CudaC> spelling([] { return CudaC(); });
    return *spelling;
}

}  // namespace wye::lower
