// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/native_functions.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

struct Row {
    Op op;
    NativeForm f32;
    NativeForm f64;
};
constexpr NativeForm kNone = {0, {}, 0};

// CUDA C++ Programming Guide, "Mathematical Functions Appendix", "Standard Functions": maximum ulp
// error of the single and double precision functions without -use_fast_math. Where editions differ,
// the table has the larger figure. `/` and sqrt: PTX ISA, div.full.f32 (2 ulp over the full range)
// and sqrt.approx.f32 (relative error 2^-23, hence below 2 ulp); in f64 both are always exact.
constexpr Row kCuda[] = {
    {Op::DIV, {2, "div.full.f32", 0}, kNone},       {Op::SQRT, {2, "sqrt.approx.f32", 0}, kNone},
    {Op::EXP, {2, "expf", 0}, {1, "exp", 0}},       {Op::EXP2, {2, "exp2f", 0}, {1, "exp2", 0}},
    {Op::EXP10, {2, "exp10f", 0}, {1, "exp10", 0}}, {Op::LOG, {1, "logf", 0}, {1, "log", 0}},
    {Op::LOG2, {1, "log2f", 0}, {1, "log2", 0}},    {Op::LOG10, {2, "log10f", 0}, {1, "log10", 0}},
    {Op::SIN, {2, "sinf", 0}, {2, "sin", 0}},       {Op::COS, {2, "cosf", 0}, {2, "cos", 0}},
    {Op::TAN, {4, "tanf", 0}, {2, "tan", 0}},       {Op::ASIN, {4, "asinf", 0}, {2, "asin", 0}},
    {Op::ACOS, {3, "acosf", 0}, {2, "acos", 0}},    {Op::ATAN, {2, "atanf", 0}, {2, "atan", 0}},
    {Op::ATAN2, {3, "atan2f", 0}, {2, "atan2", 0}}, {Op::SINH, {3, "sinhf", 0}, {2, "sinh", 0}},
    {Op::COSH, {2, "coshf", 0}, {1, "cosh", 0}},    {Op::TANH, {2, "tanhf", 0}, {1, "tanh", 0}},
    {Op::POW, {9, "powf", 0}, {2, "pow", 0}},       {Op::RSQRT, {2, "rsqrtf", 0}, {1, "rsqrt", 0}},
    {Op::CBRT, {1, "cbrtf", 0}, {1, "cbrt", 0}},    {Op::HYPOT, {3, "hypotf", 0}, {2, "hypot", 0}},
    {Op::ERF, {2, "erff", 0}, {2, "erf", 0}},       {Op::EXPM1, {1, "expm1f", 0}, {1, "expm1", 0}},
    {Op::LOG1P, {1, "log1pf", 0}, {1, "log1p", 0}}, {Op::SINPI, {2, "sinpif", 0}, {2, "sinpi", 0}},
    {Op::COSPI, {2, "cospif", 0}, {2, "cospi", 0}},
};

// OpenCL 1.2 specification, 7.4 "Relative Error as ULPs", full profile, single and double
// precision. In f64 `/` and sqrt are always correctly rounded.
constexpr Row kOpenCl[] = {
    {Op::DIV, {2.5, "/", 0}, kNone},
    {Op::SQRT, {3, "sqrt", 0}, kNone},
    {Op::EXP, {3, "exp", 0}, {3, "exp", 0}},
    {Op::EXP2, {3, "exp2", 0}, {3, "exp2", 0}},
    {Op::EXP10, {3, "exp10", 0}, {3, "exp10", 0}},
    {Op::LOG, {3, "log", 0}, {3, "log", 0}},
    {Op::LOG2, {3, "log2", 0}, {3, "log2", 0}},
    {Op::LOG10, {3, "log10", 0}, {3, "log10", 0}},
    {Op::SIN, {4, "sin", 0}, {4, "sin", 0}},
    {Op::COS, {4, "cos", 0}, {4, "cos", 0}},
    {Op::TAN, {5, "tan", 0}, {5, "tan", 0}},
    {Op::ASIN, {4, "asin", 0}, {4, "asin", 0}},
    {Op::ACOS, {4, "acos", 0}, {4, "acos", 0}},
    {Op::ATAN, {5, "atan", 0}, {5, "atan", 0}},
    {Op::ATAN2, {6, "atan2", 0}, {6, "atan2", 0}},
    {Op::SINH, {4, "sinh", 0}, {4, "sinh", 0}},
    {Op::COSH, {4, "cosh", 0}, {4, "cosh", 0}},
    {Op::TANH, {5, "tanh", 0}, {5, "tanh", 0}},
    {Op::POW, {16, "pow", 0}, {16, "pow", 0}},
    {Op::RSQRT, {2, "rsqrt", 0}, {2, "rsqrt", 0}},
    {Op::CBRT, {2, "cbrt", 0}, {2, "cbrt", 0}},
    {Op::HYPOT, {4, "hypot", 0}, {4, "hypot", 0}},
    {Op::ERF, {16, "erf", 0}, {16, "erf", 0}},
    {Op::EXPM1, {3, "expm1", 0}, {3, "expm1", 0}},
    {Op::LOG1P, {2, "log1p", 0}, {2, "log1p", 0}},
    {Op::SINPI, {4, "sinpi", 0}, {4, "sinpi", 0}},
    {Op::COSPI, {4, "cospi", 0}, {4, "cospi", 0}},
};

// Vulkan specification, "Precision and Operation of SPIR-V Instructions", 32-bit. Omitted: `/` (2.5
// ulp only for divisors from 2^-126 to 2^126), sqrt, tan, pow and others (derived from operations
// without a bound in ulp), exp and exp2 (3 + 2 |x| ulp), log and log2 (an absolute error near 1),
// sin and cos (absolute), and 64-bit floats (only as precise as 32-bit ones).
constexpr Row kVulkan[] = {
    {Op::ATAN, {4096, {}, 18}, kNone},
    {Op::ATAN2, {4096, {}, 25}, kNone},
    {Op::RSQRT, {2, {}, 32}, kNone},
};

// The f32 definitions in ../math/fast.wye, with the maximum error of a result in ulp.
struct Fast {
    Op op;
    std::uint32_t ulp;
};
constexpr Fast kFast[] = {
    {Op::EXP, 1},   {Op::EXP2, 2}, {Op::EXP10, 2}, {Op::LOG, 1},  {Op::LOG2, 1},
    {Op::LOG10, 1}, {Op::SIN, 3},  {Op::COS, 3},   {Op::TANH, 2}, {Op::ERF, 2},
};

constexpr unsigned kWide = 32;  // the first bit of f64 operations

// Returns the index of an operation that may be native.
constexpr unsigned index_of(Op op) {
    if (op == Op::DIV) return 0;
    if (op == Op::SQRT) return 1;
    return 2 + static_cast<unsigned>(op) - static_cast<unsigned>(Op::EXP);
}
static_assert(index_of(Op::COSPI) < kWide);

template <typename Visit>
void each_expression(const ir::Program& program, Visit visit) {
    for (const ir::Function& f : program.functions)
        for (const ir::Expr& e : f.code.exprs) visit(e);
    for (const ir::Expr& e : program.main.exprs) visit(e);
}

}  // namespace

const NativeForm* native_form(std::string_view format, Op op, Kind kind) {
    std::span<const Row> rows;
    if (format == WYE_FORMAT_CUDA_C) rows = kCuda;
    if (format == WYE_FORMAT_OPENCL_C) rows = kOpenCl;
    if (format == WYE_FORMAT_SPIRV) rows = kVulkan;
    const auto row = std::ranges::find(rows, op, &Row::op);
    if (row == rows.end() || (kind != Kind::F32 && kind != Kind::F64)) return nullptr;
    const NativeForm& form = kind == Kind::F32 ? row->f32 : row->f64;
    return form.ulp == 0 ? nullptr : &form;
}

NativeSet native_in(std::string_view format, NativeSet set) {
    for (const Fast& fast : kFast)
        if (native_form(format, fast.op, Kind::F32) == nullptr)
            set &= ~native_bit(fast.op, Kind::F32);
    return set;
}

NativeSet native_bit(Op op, Kind kind) {
    const bool may = op == Op::DIV || op == Op::SQRT || ir::op_math(op);
    if (!may || (kind != Kind::F32 && kind != Kind::F64)) return 0;
    return NativeSet{1} << (index_of(op) + (kind == Kind::F64 ? kWide : 0));
}

const char* native_name(unsigned bit) {
#define WYE_NAME_F32(name, code, text, operands) text " (f32)",
#define WYE_NAME_F64(name, code, text, operands) text " (f64)",
    static constexpr const char* kF32[] = {"/ (f32)", "sqrt (f32)", WYE_MATH(WYE_NAME_F32)};
    static constexpr const char* kF64[] = {"/ (f64)", "sqrt (f64)", WYE_MATH(WYE_NAME_F64)};
#undef WYE_NAME_F32
#undef WYE_NAME_F64
    static_assert(std::size(kF32) == index_of(Op::COSPI) + 1);
    const unsigned index = bit % kWide;
    if (bit >= 2 * kWide || index >= std::size(kF32)) return "";
    return bit < kWide ? kF32[index] : kF64[index];
}

NativeSet choose_natives(const ir::Program& program, std::string_view format,
                         std::uint32_t ulp_budget) {
    NativeSet out = 0;
    if (ulp_budget == 0) return out;
    each_expression(program, [&](const ir::Expr& e) {
        const NativeSet bit = native_bit(e.op, e.type.kind);
        if (bit == 0) return;
        if (const NativeForm* form = native_form(format, e.op, e.type.kind)) {
            if (form->ulp <= ulp_budget) out |= bit;
            return;
        }
        const auto* const fast = std::ranges::find(kFast, e.op, &Fast::op);
        // The fast definitions are for SPIR-V only. The format `wye-program` is strict under every
        // budget, and the C dialects have native forms of all these functions.
        if (format == WYE_FORMAT_SPIRV && e.type.kind == Kind::F32 && fast != std::end(kFast) &&
            fast->ulp <= ulp_budget)
            out |= bit;
    });
    return out;
}

}  // namespace wye::lower
