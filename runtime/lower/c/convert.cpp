// SPDX-License-Identifier: Apache-2.0
//
// Conversions between scalar kinds as C text. Float to integer is made safe before it happens: C
// leaves out-of-range conversions open, the language saturates and takes NaN to 0.
#include "lower/c/module.hpp"

namespace wye::lower {
namespace {

using ir::Kind;

struct Saturation {
    const char* low;   // the comparison that keeps truncation above the target's least value
    const char* high;  // and below one more than its greatest
    std::uint64_t least, greatest;
};

// Bounds are powers of two, exact in both float kinds; f64 to i32 may go down to -2^31 - 1, not
// included.
Saturation saturation(Kind from, Kind to) {
    const bool f64 = from == Kind::F64;
    switch (to) {
        case Kind::I32:
            return f64 ? Saturation{"a > -2147483649.0", "a < 2147483648.0", 0x80000000U,
                                    0x7fffffffU}
                       : Saturation{"a >= -2147483648.0f", "a < 2147483648.0f", 0x80000000U,
                                    0x7fffffffU};
        case Kind::U32:
            return f64 ? Saturation{"a > -1.0", "a < 4294967296.0", 0, 0xffffffffU}
                       : Saturation{"a > -1.0f", "a < 4294967296.0f", 0, 0xffffffffU};
        case Kind::I64:
            return f64 ? Saturation{"a >= -9223372036854775808.0", "a < 9223372036854775808.0",
                                    0x8000000000000000U, 0x7fffffffffffffffU}
                       : Saturation{"a >= -9223372036854775808.0f", "a < 9223372036854775808.0f",
                                    0x8000000000000000U, 0x7fffffffffffffffU};
        default:
            return f64 ? Saturation{"a > -1.0", "a < 18446744073709551616.0", 0, ~std::uint64_t{0}}
                       : Saturation{"a > -1.0f", "a < 18446744073709551616.0f", 0,
                                    ~std::uint64_t{0}};
    }
}

std::string float_to_int(CModule& module, Kind from, Kind to, const std::string& operand) {
    const std::string name = "wye_" + ir::type_name({from, 1}) + "_to_" + ir::type_name({to, 1});
    if (!module.has_helper(name)) {
        const Saturation s = saturation(from, to);
        const std::string source(module.use_type(from));
        const std::string target(module.use_type(to));
        const std::string native(module.spelling.type(to));
        const std::string zero = from == Kind::F64 ? "0.0" : "0.0f";
        const std::string cast =
            native == target ? "(" + target + ")" : "(" + target + ")(" + native + ")";
        std::string text = target + " " + name + "(const " + source + " a) {\n";
        if (const std::string body = module.spelling.native_float_to_int(from, to); !body.empty()) {
            module.add_helper(name, text + body + "}\n");
            return name + "(" + operand + ")";
        }
        text += "    const bool ok = " + std::string(s.low) + " && " + s.high + ";\n";
        text += "    const " + target + " t = " + cast + "(ok ? a : " + zero + ");\n";
        text += "    const " + target + " end = a > " + zero + " ? " +
                module.literal(to, s.greatest) + " : a < " + zero + " ? " +
                module.literal(to, s.least) + " : " + module.literal(to, 0) + ";\n";
        text += "    return ok ? t : end;\n}\n";
        module.add_helper(name, text);
    }
    return name + "(" + operand + ")";
}

}  // namespace

std::string scalar_conversion(CModule& module, Kind from, Kind to, const std::string& operand) {
    if (from == to) return operand;
    if (from == Kind::F16) return scalar_conversion(module, Kind::F32, to, operand);  // held as f32
    if (to == Kind::F16) {
        if (from == Kind::F64) return f64_to_f16(module, operand);
        // What the way through f32 rounds in integers is far beyond the largest f16.
        const std::string f32 = scalar_conversion(module, from, Kind::F32, operand);
        return from == Kind::BOOL ? f32 : half_step(module, HalfStep::Round, f32);
    }
    const ir::Type source{from, 1};
    const ir::Type target{to, 1};
    const std::string cast = "(" + std::string(module.use_type(to)) + ")";
    if (from == Kind::BOOL)
        return "(" + operand + " ? " +
               (target.floating()
                    ? module.literal(to, to == Kind::F64 ? 0x3ff0000000000000U : 0x3f800000U)
                    : module.literal(to, 1)) +
               " : " + module.literal(to, 0) + ")";
    if (source.floating() && target.integer()) return float_to_int(module, from, to, operand);
    if (source.integer() && target.integer() && source.bits() == target.bits()) return operand;
    // A signed value is held unsigned: give it its sign before it is widened or becomes a float.
    const bool widen = source.signed_integer() && target.bits() >= source.bits() &&
                       !(target.integer() && target.bits() == source.bits());
    const bool to_float = source.signed_integer() && target.floating();
    if (widen || to_float)
        return cast + "(" + std::string(module.spelling.type(from)) + ")" + operand;
    return cast + operand;
}

}  // namespace wye::lower
