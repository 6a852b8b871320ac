// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C 1.2. OpenCL guarantees that f64 division and square root are correctly rounded, and that
// fma rounds once. f32 division and square root are correctly rounded only with a compiler flag, on
// devices that support it.
#include "lower/c/spelling.hpp"
#include "wye/sdk/lasting.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

std::string_view space_word(Space space) {
    static constexpr std::string_view kWords[] = {"__global ", "__local ", "__constant ", ""};
    return kWords[static_cast<std::size_t>(space)];
}

class OpenClC final : public Spelling {
  public:
    std::string_view type(Kind kind) const override {
        static constexpr std::string_view kNames[] = {// by Kind
                                                      "void",  "bool",   "int",    "uint",   "long",
                                                      "ulong", "ushort", "float",  "double", "char",
                                                      "uchar", "short",  "ushort", "ushort"};
        return kNames[static_cast<std::size_t>(kind)];
    }

    std::string vector_type(ir::Type type_) const override {
        return std::string(type(type_.kind)) + std::to_string(type_.lanes);
    }
    std::string make_vector(ir::Type type_, std::span<const std::string> parts) const override {
        return call("(" + vector_type(type_) + ")", parts);
    }
    std::string_view u64_suffix() const override { return "ul"; }

    std::string_view format() const override { return WYE_FORMAT_OPENCL_C; }
    std::string prologue(const Used& used) const override {
        std::string out = "#pragma OPENCL FP_CONTRACT OFF\n";
        if (used.f64) out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
        if (used.atomic64) {
            out += "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
            out += "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n";
        }
        return out;
    }
    std::string options(const Used& used) const override {
        std::string out = "-cl-std=CL1.2 -w";
        if (used.rounded[static_cast<unsigned>(Rounded::F32Div)] ||
            used.rounded[static_cast<unsigned>(Rounded::F32Sqrt)])
            out += " -cl-fp32-correctly-rounded-divide-sqrt";
        // With this macro the plugin (opencl/builtins.hpp) itself declares the built-in functions
        // that the text uses, so that slow compilers need not read their own headers.
        if (!used.native) out += " -DWYE_BUILTINS=1";
        return out;
    }

    std::string_view function_prefix() const override { return "static "; }
    std::string kernel_head(std::string_view entry,
                            std::array<std::uint32_t, 3> workgroup) const override {
        return "__kernel __attribute__((reqd_work_group_size(" + std::to_string(workgroup[0]) +
               ", " + std::to_string(workgroup[1]) + ", " + std::to_string(workgroup[2]) +
               ")))\nvoid " + std::string(entry);
    }
    std::string pointer(Space space, std::string_view element, bool readonly,
                        bool restrict_) const override {
        std::string out(space_word(space));
        if (readonly && space != Space::Constant) out += "const ";
        out += element;
        out += restrict_ ? "* restrict" : "*";
        return out;
    }
    std::string volatile_pointer(Space space, std::string_view element) const override {
        return "volatile " + std::string(space_word(space)) + std::string(element) + "*";
    }
    std::string shared_array(std::string_view element, std::string_view name, std::uint64_t count,
                             unsigned alignment) const override {
        std::string out = "__local " + std::string(element) + " " + std::string(name) + "[" +
                          std::to_string(count) + "]";
        if (alignment != 0) out += " __attribute__((aligned(" + std::to_string(alignment) + ")))";
        return out;
    }
    std::string constant_array(std::string_view element, std::string_view name,
                               std::uint64_t count) const override {
        return "__constant " + std::string(element) + " " + std::string(name) + "[" +
               std::to_string(count) + "]";
    }
    bool addresses_constants() const override { return true; }

    std::string group_id(unsigned axis) const override {
        return "(uint)get_group_id(" + std::to_string(axis) + ")";
    }
    std::string local_id(unsigned axis) const override {
        return "(uint)get_local_id(" + std::to_string(axis) + ")";
    }
    std::string num_groups(unsigned axis) const override {
        return "(uint)get_num_groups(" + std::to_string(axis) + ")";
    }
    std::string_view barrier(bool buffers) const override {
        return buffers ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
                       : "barrier(CLK_LOCAL_MEM_FENCE);";
    }
    Quirk spinning_atomic() const override { return Quirk::NvidiaClSpinningAtomic; }
    // The wait is written in PTX, since only drivers that compile PTX have the quirk.
    std::string done_together(const std::string& statement) const override {
        return "{ uint lanes; asm volatile(\"activemask.b32 %0;\" : \"=r\"(lanes)); " + statement +
               " asm volatile(\"bar.warp.sync %0;\" :: \"r\"(lanes) : \"memory\"); }";
    }

    std::string move_bytes(const std::string& word, const std::array<int, 4>& from) const override {
        std::string chosen;
        for (const int byte : from) {
            if (byte < 0) return {};
            chosen += "xyzw"[byte];
        }
        return "as_uint(as_uchar4(" + word + ")." + chosen + ")";
    }

    std::string intrinsic(Intrinsic what, Kind kind,
                          std::span<const std::string> operands) const override {
        static constexpr std::string_view kNames[] = {
            // by Intrinsic
            "popcount", "clz", "mul_hi", "sqrt", "fma", "floor", "ceil", "trunc", "rint"};
        const bool wide = kind == Kind::F64;
        if (what == Intrinsic::FloatBits) return call(wide ? "as_ulong" : "as_uint", operands);
        if (what == Intrinsic::BitsFloat) return call(wide ? "as_double" : "as_float", operands);
        return call(kNames[static_cast<std::size_t>(what)], operands);
    }

    bool exact(Rounded what, const TargetFacts& facts) const override {
        if (what == Rounded::F32Div) return facts.native_f32_div;
        return what != Rounded::F32Sqrt || facts.native_f32_sqrt;
    }

    std::string_view near_inverse_root() const override { return "rsqrt"; }

    std::string atomic(Op op, Kind kind, Space space, const std::string& pointer_text,
                       std::span<const std::string> operands) const override {
        const bool wide = kind == Kind::I64 || kind == Kind::U64;
        const bool ordered = op == Op::ATOMIC_MIN || op == Op::ATOMIC_MAX;
        const bool is_signed = kind == Kind::I32 || kind == Kind::I64;
        const std::string prefix = wide ? "atom_" : "atomic_";
        std::string target = pointer_text;
        std::string value = operands.empty() ? std::string() : operands[0];
        if (op == Op::ATOMIC_LOAD)  // an aligned load cannot tear; volatile prevents its reuse
            return "*(" + volatile_pointer(space, value_type(kind)) + ")" + target;
        if (ordered && is_signed) {
            target = "(" + volatile_pointer(space, type(kind)) + ")" + target;
            value = "(" + std::string(type(kind)) + ")" + value;
        }
        static constexpr std::string_view kNames[] = {
            // from ATOMIC_STORE
            "xchg", "xchg", "add", "min", "max", "and", "or", "xor", "cmpxchg"};
        const auto number =
            static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::ATOMIC_STORE);
        std::string out = prefix + std::string(kNames[number]) + "(" + target + ", " + value;
        out += (op == Op::ATOMIC_CAS ? ", " + operands[1] : std::string()) + ")";
        if (ordered && is_signed) out = "(" + std::string(value_type(kind)) + ")" + out;
        return out;
    }
};

}  // namespace

const Spelling& opencl_c() {
    static const sdk::Lasting<const OpenClC> spelling([] { return OpenClC(); });
    return *spelling;
}

}  // namespace wye::lower
