// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for compilers that miscompile constants: operands are combined with a zero passed at
// launch.
#include <array>
#include <bit>

#include "lower/c/writer.hpp"

namespace wye::lower {

using ir::Kind;
using ir::Op;

// Returns a zero passed at launch, in the integer's width.
std::string CWriter::late_zero(ir::Type type) {
    const std::string zero = outer(Outer::Kind::OpaqueZero);
    return type.bits() == 64 ? zero : "(" + std::string(module_.value_type(Kind::U32)) + ")" + zero;
}

void CWriter::hide_integer(CValue& v, const std::string& zero) {
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = "(" + v.c[k] + " | " + zero + ")";
}

void CWriter::hide_float(CValue& v, Kind kind) {
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = module_.intrinsic(Intrinsic::BitsFloat, kind,
                                   module_.intrinsic(Intrinsic::FloatBits, kind, bare(v.c[k])) +
                                       " | " + late_zero({kind, 1}));
}

void CWriter::hide_operands(const ir::Expr& e, Operation& made) {
    const auto ids = code_.operands_of(e);
    const ir::Type type = code_.exprs[ids[0]].type;
    const QuirkSet& quirks = module_.facts.quirks;
    switch (e.op) {
        case Op::CONVERT:
            if (type.kind != Kind::F64 || e.type.kind != Kind::F32 ||
                !quirks.has(Quirk::NvidiaConstantNarrowing) || code_.math_definition)
                return;
            hide_float(made.operands[0], Kind::F64);
            made.operands[0].depth += 2;
            return;
        case Op::BITCAST:
            if (e.type.kind == Kind::F16 && type.integer() &&
                quirks.has(Quirk::PtxasHalfOfAChoice) && code_.exprs[ids[0]].op != Op::LITERAL &&
                !launch_values_.unknown(ids[0]))
                hide_integer(made.operands[0], late_zero(ir::kU32));
            if ((type.kind == Kind::F32 || type.kind == Kind::F64) && e.type.integer() &&
                quirks.has(Quirk::NvvmLiteralCompare) && !code_.math_definition &&
                code_.exprs[ids[0]].op != Op::LITERAL && !launch_values_.unknown(ids[0])) {
                hide_float(made.operands[0], type.kind);
                made.operands[0].depth += 2;
            }
            return;
        case Op::ABS:
            if (!type.signed_integer() || !quirks.has(Quirk::PtxasAbsMin)) return;
            made.operands[made.count++].c[0] = late_zero(type);
            return;
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
            if (quirks.has(Quirk::MesaLiteralZero))
                for (std::size_t k = 0; k < ids.size(); ++k) hide_zero(ids[k], made.operands[k]);
            if (e.op == Op::DIV && by_reciprocal(ids[1], made.operands[1])) made.op = Op::MUL;
            return;
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
            return hide_constants(ids, made);
        default:
            return hide_negated_bits(ids, made);
    }
}

// For the quirk `mesa-literal-zero`: literal zeros of float arithmetic are made from a value that
// the compiler does not know.
void CWriter::hide_zero(ir::ExprId id, CValue& v) {
    const ir::Expr& e = code_.exprs[id];
    const std::uint64_t sign = std::uint64_t{1} << (e.type.bits() - 1);
    if (e.op != Op::LITERAL || !e.type.floating() || (e.extra & ~sign) != 0) return;
    const bool wide = e.type.kind == Kind::F64;
    std::string bits = late_zero(e.type);
    if (e.extra != 0)
        bits += " | " +
                (wide ? module_.literal(Kind::U64, sign) : module_.literal(Kind::U32, 0x80000000U));
    v.c[0] = module_.intrinsic(Intrinsic::BitsFloat, wide ? Kind::F64 : Kind::F32, bits);
}

// For the quirk `ptxas-lost-not`: hides integers that the text negates bit by bit.
void CWriter::hide_negated_bits(std::span<const ir::ExprId> ids, Operation& made) {
    const ir::Type type = code_.exprs[ids[0]].type;
    if (!module_.facts.quirks.has(Quirk::PtxasLostNot) || !type.integer()) return;
    const auto all_ones = [&](ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        return e.op == Op::LITERAL && e.extra == ~std::uint64_t{0} >> (64U - e.type.bits());
    };
    const auto hide = [&](std::size_t k) {
        if (code_.exprs[ids[k]].op != Op::LITERAL)
            hide_integer(made.operands[k], late_zero(code_.exprs[ids[k]].type));
    };
    const Op op = made.op;
    if (op == Op::NOT || op == Op::CTZ) hide(0);
    if (op == Op::XOR && all_ones(ids[0])) hide(1);
    if (op == Op::XOR && all_ones(ids[1])) hide(0);
    if ((op == Op::ROTL || op == Op::ROTR) && type.bits() == 64) hide(1);
}

// For the quirk `ptxas-lost-minus`, on i32, and the quirk `ptxas-saturate`, on floats: hides
// operands of min, max and clamp. On floats, operations with a plain literal (for clamp: two), or
// without constant operands, are safe.
void CWriter::hide_constants(std::span<const ir::ExprId> ids, Operation& made) {
    const bool clamp = made.op == Op::CLAMP;
    const ir::Type type = code_.exprs[ids[0]].type;
    if (type.kind == Kind::I32) {
        if (!module_.facts.quirks.has(Quirk::PtxasLostMinus)) return;
        const std::string zero = late_zero(ir::kU32);
        for (std::size_t k = 0; k < ids.size(); ++k)
            if (negations_.possible(ids[k])) hide_integer(made.operands[k], zero);
        return;
    }
    const bool narrow = type.floating() && type.kind != Kind::F64;
    if (!narrow || !module_.facts.quirks.has(Quirk::PtxasSaturate)) return;
    std::array<bool, 3> plain = {};
    for (std::size_t k = 0; k < ids.size(); ++k) plain[k] = plain_literal(code_, ids[k], clamp);
    if (clamp ? plain[1] && plain[2] : plain[0] || plain[1]) return;
    for (std::size_t k = 0; k < ids.size(); ++k)
        if (!plain[k] && !launch_values_.unknown(ids[k])) hide_float(made.operands[k], Kind::F32);
}

// For the quirk `nvidia-cl-fused-division`. Returns true if `divisor`, a literal power of two, was
// replaced by its reciprocal, by which the caller must multiply. Hides other divisors that may
// become constant.
bool CWriter::by_reciprocal(ir::ExprId id, CValue& divisor) {
    const Kind kind = code_.exprs[id].type.kind;
    if (!module_.facts.quirks.has(Quirk::NvidiaClFusedDivision) ||
        (kind != Kind::F32 && kind != Kind::F64))
        return false;
    const bool wide = kind == Kind::F64;
    const bool splat = code_.exprs[id].op == Op::SPLAT;
    const ir::Expr& e = code_.exprs[splat ? code_.operands_of(id)[0] : id];
    if (e.op == Op::LITERAL) {
        const unsigned mantissa = wide ? 52 : 23;  // bits
        const std::uint64_t largest = wide ? 0x7ff : 0xff;
        const std::uint64_t exponent = (e.extra >> mantissa) & largest;
        const std::uint64_t fraction = e.extra & ((std::uint64_t{1} << mantissa) - 1);
        // The compiler, too, multiplies only if both the divisor and its reciprocal are normal.
        if (fraction != 0 || exponent == 0 || exponent >= largest - 1) return false;
        const std::uint64_t sign = e.extra >> (mantissa + (wide ? 11U : 8U));
        const std::uint64_t bits = (sign * (largest + 1) | (largest - 1 - exponent)) << mantissa;
        for (unsigned k = 0; k < divisor.lanes; ++k) divisor.c[k] = module_.literal(kind, bits);
        return true;
    }
    if (launch_values_.unknown(id)) return false;
    hide_float(divisor, kind);
    return false;
}

// Hides a value for the quirk `llvm-masked-affine-index` or the quirk `nvvm-powers`. Returns false,
// and writes nothing, if neither applies.
bool CWriter::hide_value(ir::ExprId id, CValue& v) {
    if (!module_.masked_indices.has(function_, id) && !powers_.has(id)) return false;
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    const std::string zero = late_zero(e.type);
    if (ids.size() == 2 && code_.exprs[ids[1]].op == Op::LITERAL && e.type.lanes == 1) {
        const std::uint64_t bits = code_.exprs[ids[1]].extra;
        const bool rest = e.op == Op::REM && e.type.unsigned_integer() && std::has_single_bit(bits);
        // Hides the mask rather than the result: the mask does not depend on the loop, so it is
        // computed once.
        if (rest || e.op == Op::AND) {
            v = value(ids[0]);
            v.c[0] = "(" + v.c[0] + " & (" + module_.literal(e.type.kind, rest ? bits - 1 : bits) +
                     " | " + zero + "))";
            ++v.depth;
            return true;
        }
    }
    v = operation(e);
    hide_integer(v, zero);
    ++v.depth;
    return true;
}

}  // namespace wye::lower
