// SPDX-License-Identifier: Apache-2.0
#include "oracle/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace oracle {
namespace {

__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

std::uint64_t mask(unsigned kind) {
    const unsigned w = kind_bits(kind);
    return w == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << w) - 1;
}

float as_float(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

// ---- Integers ---------------------------------------------------------------------------------

std::uint64_t lowest(unsigned kind) {  // the bits of the smallest value
    return is_signed(kind) ? std::uint64_t{1} << (kind_bits(kind) - 1) : 0;
}
std::uint64_t highest(unsigned kind) { return is_signed(kind) ? mask(kind) >> 1 : mask(kind); }

// The exact value of an integer of any kind.
Wide exact(unsigned kind, std::uint64_t bits) {
    return is_signed(kind) ? static_cast<Wide>(to_signed(kind, bits)) : static_cast<Wide>(bits);
}

std::uint64_t clamp_to(unsigned kind, Wide value) {
    if (value < exact(kind, lowest(kind))) return lowest(kind);
    if (value > exact(kind, highest(kind))) return highest(kind);
    return static_cast<std::uint64_t>(value) & mask(kind);
}

std::uint64_t reverse(unsigned kind, std::uint64_t bits) {
    std::uint64_t out = 0;
    for (unsigned i = 0; i < kind_bits(kind); ++i) out = out << 1 | (bits >> i & 1);
    return out;
}

std::uint64_t integer_unary(std::uint32_t op, unsigned kind, std::uint64_t a) {
    const unsigned w = kind_bits(kind);
    switch (op) {
        case WYE_OP_NEG:
            return (0 - a) & mask(kind);
        case WYE_OP_NOT:
            return ~a & mask(kind);
        case WYE_OP_ABS:
            return to_signed(kind, a) < 0 ? (0 - a) & mask(kind) : a;
        case WYE_OP_POPCOUNT:
            return static_cast<std::uint64_t>(std::popcount(a));
        case WYE_OP_CLZ:
            return static_cast<std::uint64_t>(std::countl_zero(a)) - (64 - w);
        case WYE_OP_CTZ:
            return a == 0 ? w : static_cast<std::uint64_t>(std::countr_zero(a));
        case WYE_OP_REVERSE_BITS:
            return reverse(kind, a);
        default:
            throw Refused("operation " + std::to_string(op) + " does not take an integer");
    }
}

std::uint64_t integer_binary(std::uint32_t op, unsigned kind, std::uint64_t a, std::uint64_t b) {
    const unsigned w = kind_bits(kind);
    const unsigned count = static_cast<unsigned>(b & (w - 1));  // of shifts and rotations
    const Wide x = exact(kind, a);
    const Wide y = exact(kind, b);
    switch (op) {
        case WYE_OP_ADD:
            return (a + b) & mask(kind);
        case WYE_OP_SUB:
            return (a - b) & mask(kind);
        case WYE_OP_MUL:
            return (a * b) & mask(kind);
        case WYE_OP_DIV:  // toward zero; MIN / -1 wraps to MIN
            return b == 0 ? a : static_cast<std::uint64_t>(x / y) & mask(kind);
        case WYE_OP_REM:
            return b == 0 ? 0 : static_cast<std::uint64_t>(x % y) & mask(kind);
        case WYE_OP_AND:
            return a & b;
        case WYE_OP_OR:
            return a | b;
        case WYE_OP_XOR:
            return a ^ b;
        case WYE_OP_SHL:
            return (a << count) & mask(kind);
        case WYE_OP_SHR:
            return static_cast<std::uint64_t>(x >> count) & mask(kind);
        case WYE_OP_ROTL:
            return count == 0 ? a : (a << count | a >> (w - count)) & mask(kind);
        case WYE_OP_ROTR:
            return count == 0 ? a : (a >> count | a << (w - count)) & mask(kind);
        case WYE_OP_MUL_HI:
            return is_signed(kind)
                       ? static_cast<std::uint64_t>(x * y >> w) & mask(kind)
                       : static_cast<std::uint64_t>(static_cast<WideUnsigned>(a) * b >> w);
        case WYE_OP_ADD_SAT:
            return clamp_to(kind, x + y);
        case WYE_OP_SUB_SAT:
            return clamp_to(kind, x - y);
        case WYE_OP_MIN:
            return x < y ? a : b;
        case WYE_OP_MAX:
            return x > y ? a : b;
        case WYE_OP_EQ:
            return x == y;
        case WYE_OP_NE:
            return x != y;
        case WYE_OP_LT:
            return x < y;
        case WYE_OP_LE:
            return x <= y;
        case WYE_OP_GT:
            return x > y;
        case WYE_OP_GE:
            return x >= y;
        default:
            throw Refused("operation " + std::to_string(op) + " does not take integers");
    }
}

// ---- Floats -----------------------------------------------------------------------------------

std::uint64_t sign_bit(unsigned kind) { return std::uint64_t{1} << (kind_bits(kind) - 1); }

// The bits of a value that the kind can represent, or of the nearest one.
std::uint64_t from_double(unsigned kind, double value) {
    if (kind == WYE_KIND_F64) return std::bit_cast<std::uint64_t>(value);
    if (kind == WYE_KIND_F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return half_from_double(value);
}
// f16 arithmetic is done in f32, then rounded.
std::uint64_t from_float(unsigned kind, float value) {
    if (kind == WYE_KIND_F32) return std::bit_cast<std::uint32_t>(value);
    return half_from_double(static_cast<double>(value));
}
float to_float(unsigned kind, std::uint64_t bits) {
    return kind == WYE_KIND_F32 ? as_float(bits) : static_cast<float>(to_double(kind, bits));
}

std::uint64_t float_unary(std::uint32_t op, unsigned kind, std::uint64_t a) {
    const double x = to_double(kind, a);
    switch (op) {
        case WYE_OP_NEG:
            return a ^ sign_bit(kind);
        case WYE_OP_ABS:
            return a & ~sign_bit(kind);
        case WYE_OP_SQRT:
            return kind == WYE_KIND_F64 ? from_double(kind, std::sqrt(x))
                                        : from_float(kind, std::sqrt(to_float(kind, a)));
        case WYE_OP_FLOOR:
            return from_double(kind, std::floor(x));
        case WYE_OP_CEIL:
            return from_double(kind, std::ceil(x));
        case WYE_OP_TRUNC:
            return from_double(kind, std::trunc(x));
        case WYE_OP_ROUND:  // ties to even
            return from_double(kind, std::nearbyint(x));
        case WYE_OP_ISNAN:
            return std::isnan(x);
        case WYE_OP_ISINF:
            return std::isinf(x);
        default:
            throw Refused("operation " + std::to_string(op) + " does not take a float");
    }
}

template <typename F>
F calculate(std::uint32_t op, F a, F b) {
    switch (op) {
        case WYE_OP_ADD:
            return a + b;
        case WYE_OP_SUB:
            return a - b;
        case WYE_OP_MUL:
            return a * b;
        default:
            return a / b;
    }
}

std::uint64_t float_binary(std::uint32_t op, unsigned kind, std::uint64_t a, std::uint64_t b) {
    const double x = to_double(kind, a);  // comparisons in double are exact for every kind
    const double y = to_double(kind, b);
    switch (op) {
        case WYE_OP_ADD:
        case WYE_OP_SUB:
        case WYE_OP_MUL:
        case WYE_OP_DIV:
            if (kind == WYE_KIND_F64) return from_double(kind, calculate(op, x, y));
            return from_float(kind, calculate(op, to_float(kind, a), to_float(kind, b)));
        case WYE_OP_MIN:  // a number wins over a NaN, and -0 is below +0
            if (x == y) return a | b;
            return x < y || std::isnan(y) ? a : b;
        case WYE_OP_MAX:
            if (x == y) return a & b;
            return x > y || std::isnan(y) ? a : b;
        case WYE_OP_COPYSIGN: {
            const std::uint64_t sign = std::isnan(y) ? 0 : b & sign_bit(kind);
            return (a & ~sign_bit(kind)) | sign;
        }
        case WYE_OP_EQ:
            return x == y;
        case WYE_OP_NE:
            return x != y;
        case WYE_OP_LT:
            return x < y;
        case WYE_OP_LE:
            return x <= y;
        case WYE_OP_GT:
            return x > y;
        case WYE_OP_GE:
            return x >= y;
        default:
            throw Refused("operation " + std::to_string(op) + " does not take floats");
    }
}

std::uint64_t fused(unsigned kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    if (kind == WYE_KIND_F64)
        return from_double(kind,
                           std::fma(to_double(kind, a), to_double(kind, b), to_double(kind, c)));
    if (kind == WYE_KIND_F32)
        return from_float(kind, std::fma(as_float(a), as_float(b), as_float(c)));
    return from_float(kind, to_float(kind, a) * to_float(kind, b) + to_float(kind, c));
}

// ---- Values -----------------------------------------------------------------------------------

bool is_comparison(std::uint32_t op) { return op >= WYE_OP_EQ && op <= WYE_OP_GE; }
bool is_shift(std::uint32_t op) {
    return op == WYE_OP_SHL || op == WYE_OP_SHR || op == WYE_OP_ROTL || op == WYE_OP_ROTR;
}

std::uint64_t bool_binary(std::uint32_t op, std::uint64_t a, std::uint64_t b) {
    switch (op) {
        case WYE_OP_LOGICAL_AND:
            return a & b;
        case WYE_OP_LOGICAL_OR:
            return a | b;
        case WYE_OP_EQ:
            return a == b;
        case WYE_OP_NE:
            return a != b;
        default:
            throw Refused("operation " + std::to_string(op) + " does not take bools");
    }
}

Value unary(std::uint32_t op, const Value& a) {
    const unsigned kind = a.type.kind;
    if (op == WYE_OP_ANY || op == WYE_OP_ALL) {
        bool any = false;
        bool all = true;
        for (unsigned i = 0; i < a.type.lanes; ++i) any |= a.c[i] != 0, all &= a.c[i] != 0;
        return {kBool, op == WYE_OP_ANY ? any : all};
    }
    const bool test = op == WYE_OP_ISNAN || op == WYE_OP_ISINF;
    Value out(test ? Type{WYE_KIND_BOOL, a.type.lanes} : a.type);
    for (unsigned i = 0; i < a.type.lanes; ++i) {
        if (kind == WYE_KIND_BOOL && op == WYE_OP_LOGICAL_NOT)
            out.c[i] = a.c[i] ^ 1;
        else if (is_float(kind))
            out.c[i] = float_unary(op, kind, a.c[i]);
        else
            out.c[i] = integer_unary(op, kind, a.c[i]);
    }
    return out;
}

Value select(const Value& condition, const Value& yes, const Value& no) {
    if (condition.type.kind != WYE_KIND_BOOL || yes.type != no.type) throw Refused("bad select");
    Value out(yes.type);
    for (unsigned i = 0; i < yes.type.lanes; ++i)
        out.c[i] = condition.c[condition.type.lanes == 1 ? 0 : i] != 0 ? yes.c[i] : no.c[i];
    return out;
}

Value bitcast(Type to, const Value& from) {
    // The value as bytes, then as components of the other type.
    std::array<unsigned char, 32> bytes{};
    const unsigned from_bytes = kind_bytes(from.type.kind);
    const unsigned to_bytes = kind_bytes(to.kind);
    if (from_bytes * from.type.lanes != to_bytes * to.lanes || from_bytes == 0)
        throw Refused("bitcast between types of different width");
    for (unsigned i = 0; i < from.type.lanes; ++i) {
        const std::uint64_t bits = canonical(from.type.kind, from.c[i]);
        std::memcpy(&bytes[i * from_bytes], &bits, from_bytes);
    }
    Value out(to);
    for (unsigned i = 0; i < to.lanes; ++i) std::memcpy(&out.c[i], &bytes[i * to_bytes], to_bytes);
    return out;
}

}  // namespace

double to_double(unsigned kind, std::uint64_t bits) {
    switch (kind) {
        case WYE_KIND_F64:
            return std::bit_cast<double>(bits);
        case WYE_KIND_F32:
            return static_cast<double>(as_float(bits));
        case WYE_KIND_BF16:
            return static_cast<double>(as_float(bits << 16));
        case WYE_KIND_F16: {
            const int exponent = static_cast<int>(bits >> 10 & 0x1f);
            const auto fraction = static_cast<double>(bits & 0x3ff);
            const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
            if (exponent == 0x1f)
                return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN();
            if (exponent == 0) return sign * std::ldexp(fraction, -24);
            return sign * std::ldexp(1024 + fraction, exponent - 25);
        }
        default:
            throw Refused("not a float kind: " + std::to_string(kind));
    }
}

std::uint16_t half_from_double(double value) {
    if (std::isnan(value)) return 0x7e00;
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (size >= 65520.0) return sign | 0x7c00;  // half way from the largest f16 to 65536
    if (size == 0) return sign;
    // Counts in units of the last place: exact scaling, then one rounding. A carry into the next
    // binade, or from subnormal to normal, gives the right encoding without further steps.
    const int exponent = std::max(std::ilogb(size), -14);
    const double units = std::nearbyint(std::ldexp(size, 10 - exponent));
    return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + static_cast<int>(units)));
}

std::uint16_t bf16_from_float(float value) {
    if (std::isnan(value)) return 0x7fc0;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint64_t canonical(unsigned kind, std::uint64_t bits) {
    switch (kind) {
        case WYE_KIND_F16:
            return std::isnan(to_double(kind, bits)) ? 0x7e00 : bits;
        case WYE_KIND_BF16:
            return std::isnan(to_double(kind, bits)) ? 0x7fc0 : bits;
        case WYE_KIND_F32:
            return std::isnan(to_double(kind, bits)) ? 0x7fc00000 : bits;
        case WYE_KIND_F64:
            return std::isnan(to_double(kind, bits)) ? 0x7ff8000000000000 : bits;
        default:
            return bits;
    }
}

std::int64_t to_signed(unsigned kind, std::uint64_t bits) {
    const unsigned shift = 64 - kind_bits(kind);
    return static_cast<std::int64_t>(bits << shift) >> shift;
}

std::uint64_t convert(unsigned to, unsigned from, std::uint64_t bits) {
    if (to == from) return bits;
    if (to == WYE_KIND_BOOL) throw Refused("no conversion to bool");
    if (is_float(from)) {
        const double x = to_double(from, bits);
        if (is_float(to)) return from_double(to, x);
        // Rounds toward zero and saturates. The bounds are powers of two, which are exact in
        // double.
        if (std::isnan(x)) return 0;
        const double top =
            std::ldexp(1.0, static_cast<int>(kind_bits(to)) - (is_signed(to) ? 1 : 0));
        if (x >= top) return highest(to);
        if (x <= (is_signed(to) ? -top : 0.0)) return lowest(to);
        return is_signed(to) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) & mask(to)
                             : static_cast<std::uint64_t>(x);
    }
    // Integers, and bool, which is 0 or 1 and unsigned here.
    const bool negative = is_signed(from) && to_signed(from, bits) < 0;
    const std::uint64_t extended =
        negative ? static_cast<std::uint64_t>(to_signed(from, bits)) : bits;
    switch (to) {
        case WYE_KIND_F64:
            return std::bit_cast<std::uint64_t>(
                negative ? static_cast<double>(to_signed(from, bits)) : static_cast<double>(bits));
        case WYE_KIND_F32:
            return std::bit_cast<std::uint32_t>(negative ? static_cast<float>(to_signed(from, bits))
                                                         : static_cast<float>(bits));
        case WYE_KIND_F16:  // f64 is exact up to far above the largest f16
            return half_from_double(negative ? static_cast<double>(to_signed(from, bits))
                                             : static_cast<double>(bits));
        default:
            return extended & mask(to);
    }
}

Value apply2(std::uint32_t op, const Value& a, const Value& b) {
    const unsigned kind = a.type.kind;
    if (is_shift(op)) {
        if (b.type != Type{WYE_KIND_U32, a.type.lanes}) throw Refused("shift count is not u32");
    } else if (a.type != b.type) {
        throw Refused("operation " + std::to_string(op) + " on two types");
    }
    Value out(is_comparison(op) ? Type{WYE_KIND_BOOL, a.type.lanes} : a.type);
    for (unsigned i = 0; i < a.type.lanes; ++i) {
        if (kind == WYE_KIND_BOOL)
            out.c[i] = bool_binary(op, a.c[i], b.c[i]);
        else if (is_float(kind))
            out.c[i] = float_binary(op, kind, a.c[i], b.c[i]);
        else
            out.c[i] = integer_binary(op, kind, a.c[i], b.c[i]);
    }
    return out;
}

Value apply(std::uint32_t op, std::uint32_t imm, std::span<const Value> v) {
    switch (op) {
        case WYE_OP_CONSTRUCT: {
            Value out(type_of_code(imm));
            for (unsigned i = 0; i < out.type.lanes; ++i) out.c[i] = v[i].c[0];
            return out;
        }
        case WYE_OP_SPLAT: {
            Value out(type_of_code(imm));
            for (unsigned i = 0; i < out.type.lanes; ++i) out.c[i] = v[0].c[0];
            return out;
        }
        case WYE_OP_COMPONENT:
            if (imm >= v[0].type.lanes) throw Refused("no such component");
            return {Type{v[0].type.kind, 1}, v[0].c[imm]};
        case WYE_OP_CONVERT: {
            Value out(type_of_code(imm));
            if (out.type.lanes != v[0].type.lanes) throw Refused("conversion changes the width");
            for (unsigned i = 0; i < out.type.lanes; ++i)
                out.c[i] = convert(out.type.kind, v[0].type.kind, v[0].c[i]);
            return out;
        }
        case WYE_OP_BITCAST:
            return bitcast(type_of_code(imm), v[0]);
        case WYE_OP_SELECT:
            return select(v[0], v[1], v[2]);
        case WYE_OP_CLAMP:
            return apply2(WYE_OP_MIN, apply2(WYE_OP_MAX, v[0], v[1]), v[2]);
        case WYE_OP_FMA: {
            if (v[0].type != v[1].type || v[0].type != v[2].type || !is_float(v[0].type.kind))
                throw Refused("bad fma");
            Value out(v[0].type);
            for (unsigned i = 0; i < out.type.lanes; ++i)
                out.c[i] = fused(out.type.kind, v[0].c[i], v[1].c[i], v[2].c[i]);
            return out;
        }
        default:
            if ((op & 0xf00U) == 0x300U)
                throw Refused("math function " + std::to_string(op) + " is not evaluated yet");
            if (v.size() == 1) return unary(op, v[0]);
            return apply2(op, v[0], v[1]);
    }
}

}  // namespace oracle
