// SPDX-License-Identifier: Apache-2.0
//
// Scalar operators and exact functions as C text. Anything that uses an operand twice is a helper
// function, so an expression stays one expression and nothing is computed twice.
#include "lower/c/module.hpp"
#include "lower/passes/native_functions.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// Text building for one operation on operands of one kind.
class Scalar {
  public:
    Scalar(CModule& module, Kind kind)
        : module_(module),
          half_(kind == Kind::F16),
          kind_(half_ ? Kind::F32 : kind),
          bits_(ir::Type{kind_, 1}.bits()),
          is_signed_(ir::Type{kind_, 1}.signed_integer()),
          floating_(ir::Type{kind_, 1}.floating()),
          value_(module.use_type(kind_)),
          native_(module.spelling.type(kind_)),
          bits_kind_(bits_ == 64 ? Kind::U64 : Kind::U32),
          suffix_(ir::type_name({kind_, 1})) {}

    std::string write(Op op, const std::vector<std::string>& v);

  private:
    std::string unrounded(Op op, const std::vector<std::string>& v);
    CModule& module_;
    bool half_;  // f16, held as f32
    Kind kind_;
    unsigned bits_;
    bool is_signed_, floating_;
    std::string value_;   // how values of the kind are held
    std::string native_;  // the kind itself: signed for signed
    Kind bits_kind_;
    std::string suffix_;

    std::string number(std::uint64_t value) const { return module_.literal(bits_kind_, value); }
    std::string bits_type() const { return std::string(module_.value_type(bits_kind_)); }
    std::uint64_t all_ones() const { return bits_ == 64 ? ~std::uint64_t{0} : 0xffffffffU; }
    std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits_ - 1); }
    std::uint64_t exponent() const { return bits_ == 64 ? 0x7ff0000000000000U : 0x7f800000U; }
    std::string as_native(const std::string& text) const {
        return is_signed_ ? "(" + native_ + ")" + text : text;
    }
    std::string as_bits(const std::string& text) const {
        return module_.intrinsic(Intrinsic::FloatBits, kind_, text);
    }
    std::string from_bits(const std::string& text) const {
        return module_.intrinsic(Intrinsic::BitsFloat, kind_, text);
    }
    std::string is_nan(const std::string& text) const {
        return "((" + as_bits(text) + " & " + number(sign_bit() - 1) + ") > " + number(exponent()) +
               ")";
    }
    std::string compare(const char* sign, const std::vector<std::string>& v) const {
        return "(" + as_native(v[0]) + " " + sign + " " + as_native(v[1]) + ")";
    }
    static std::string infix(const char* sign, const std::vector<std::string>& v) {
        return "(" + v[0] + " " + sign + " " + v[1] + ")";
    }

    // Calls the helper `wye_NAME_KIND`, writing it first: `body` sees value arguments a, b, c.
    std::string help(const char* name, const std::vector<std::string>& v, const std::string& body,
                     const std::string& result = {});
    std::string divide(const std::vector<std::string>& v, bool remainder);
    std::string shift(const std::vector<std::string>& v, bool left);
    [[nodiscard]] std::string rotation(const std::string& there, const std::string& back) const;
    std::string rounded(Rounded what, const std::vector<std::string>& v);
    std::string native_function(Op op, const std::vector<std::string>& v);
    std::string fma_through_f64(const std::vector<std::string>& v);
    std::string extreme(const std::vector<std::string>& v, bool least);
    std::string saturate(const std::vector<std::string>& v, bool subtract);
    std::string reverse(const std::vector<std::string>& v);
    std::string whole_number(Intrinsic what, const char* name, const std::vector<std::string>& v);
    std::string intrinsic(Intrinsic what, const std::vector<std::string>& v) const {
        return module_.spelling.intrinsic(what, kind_, v);
    }
};

std::string Scalar::help(const char* name, const std::vector<std::string>& v,
                         const std::string& body, const std::string& result) {
    const std::string full = "wye_" + std::string(name) + "_" + suffix_;
    if (!module_.has_helper(full)) {
        std::string text = (result.empty() ? value_ : result) + " " + full + "(";
        for (std::size_t i = 0; i < v.size(); ++i)
            text += std::string(i == 0 ? "" : ", ") + "const " + value_ + " " + "abc"[i];
        module_.add_helper(full, text + ") {\n" + body + "}\n");
    }
    std::string out = full + "(";
    for (std::size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ", ") + v[i];
    return out + ")";
}

// The value of an integer literal as this file writes them ("7u", "0xffffffffu"), if it is one.
std::optional<std::uint64_t> literal_value(const std::string& text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    std::size_t used = 0;
    const bool hex = text.rfind("0x", 0) == 0;
    std::uint64_t value = 0;
    for (used = hex ? 2 : 0; used < text.size(); ++used) {
        const char c = text[used];
        const int digit = c >= '0' && c <= '9'          ? c - '0'
                          : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                        : -1;
        if (digit < 0) break;
        value = value * (hex ? 16 : 10) + static_cast<unsigned>(digit);
    }
    if (used < text.size() && text[used] != 'u') return std::nullopt;
    return value;
}

// One select turns a bad divisor into 1; nothing is needed for a literal other than 0 and -1.
std::string Scalar::divide(const std::vector<std::string>& v, bool remainder) {
    const char* sign = remainder ? "%" : "/";
    const auto known = literal_value(v[1]);
    if (known && *known != 0 && !(is_signed_ && *known == all_ones())) {
        if (!is_signed_) return infix(sign, v);
        return "(" + value_ + ")(" + as_native(v[0]) + " " + sign + " " + as_native(v[1]) + ")";
    }
    std::string bad = "b == " + number(0);
    if (is_signed_)
        bad += " || (a == " + number(sign_bit()) + " && b == " + number(all_ones()) + ")";
    const std::string divisor =
        "    const " + value_ + " d = " + bad + " ? " + number(1) + " : b;\n";
    const std::string quotient =
        is_signed_ ? "(" + value_ + ")((" + native_ + ")a " + sign + " (" + native_ + ")d)"
                   : std::string("a ") + sign + " d";
    return help(remainder ? "rem" : "div", v, divisor + "    return " + quotient + ";\n");
}

std::string Scalar::shift(const std::vector<std::string>& v, bool left) {
    const auto known = literal_value(v[1]);
    const std::string count = known ? std::to_string(*known & (bits_ - 1)) + "u"
                                    : "(" + v[1] + " & " + std::to_string(bits_ - 1) + "u)";
    if (left || !is_signed_) return "(" + v[0] + (left ? " << " : " >> ") + count + ")";
    return "(" + value_ + ")(" + as_native(v[0]) + " >> " + count + ")";
}

// In the dialect's own form. An instruction (it has a dot) is one of PTX on f32.
std::string Scalar::native_function(Op op, const std::vector<std::string>& v) {
    const std::string word(native_form(module_.spelling.format(), op, kind_)->word);
    if (word == "/") return infix("/", v);
    if (word.find('.') != std::string::npos) {
        const std::string operands = v.size() == 2 ? ", %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n"
                                                   : ";\" : \"=f\"(r) : \"f\"(a));\n";
        return help(
            op == Op::DIV ? "near_div" : "near_sqrt", v,
            "    " + value_ + " r;\n    asm(\"" + word + " %0, %1" + operands + "    return r;\n");
    }
    module_.used.native = true;
    std::string out = word + "(";
    for (std::size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ", ") + v[i];
    return out + ")";
}

// f32 division and square root through f64 are exact: 53 bits are more than 2 * 24 + 1.
std::string Scalar::rounded(Rounded what, const std::vector<std::string>& v) {
    const bool division = what == Rounded::F32Div || what == Rounded::F64Div;
    if (module_.spelling.exact(what, module_.facts)) {
        module_.used.rounded[static_cast<unsigned>(what)] = true;
        return division ? infix("/", v)
                        : intrinsic(what == Rounded::F32Sqrt || what == Rounded::F64Sqrt
                                        ? Intrinsic::Sqrt
                                        : Intrinsic::Fma,
                                    v);
    }
    if (kind_ == Kind::F32 && module_.facts.f64) {
        const std::string f64(module_.use_type(Kind::F64));
        const std::string f32(module_.value_type(Kind::F32));
        if (division) return "(" + f32 + ")((" + f64 + ")" + v[0] + " / (" + f64 + ")" + v[1] + ")";
        if (what == Rounded::F32Fma) return fma_through_f64(v);
        const std::string wide[] = {"(" + f64 + ")" + v[0]};
        return "(" + f32 + ")" + module_.spelling.intrinsic(Intrinsic::Sqrt, Kind::F64, wide);
    }
    const std::string name =
        suffix_ + (division                                               ? " `/`"
                   : what == Rounded::F32Sqrt || what == Rounded::F64Sqrt ? " `sqrt`"
                                                                          : " `fma`");
    module_.refuse(Error(Code::UNSUPPORTED,
                         name + " is not exact on this device, and this version has no emulation "
                                "for it",
                         "Fix: choose another device (the `cpu` device runs every program)",
                         module_.program.name));
    return v[0];
}

// The product is exact in f64; the sum is rounded to odd, so rounding it again to f32 is right.
std::string Scalar::fma_through_f64(const std::vector<std::string>& v) {
    const std::string f64(module_.use_type(Kind::F64));
    const std::string u64(module_.value_type(Kind::U64));
    const std::string one = module_.literal(Kind::U64, 1);
    const auto bits = [&](const char* x) {
        return module_.intrinsic(Intrinsic::FloatBits, Kind::F64, x);
    };
    std::string body = "    const " + f64 + " p = (" + f64 + ")a * (" + f64 + ")b, q = c;\n";
    body += "    const " + f64 + " s = p + q, t = s - p;\n";
    body += "    const " + f64 + " e = (p - (s - t)) + (q - t);\n";
    body += "    const " + u64 + " u = " + bits("s") + ";\n";
    body += "    const bool fix = (e < 0.0 || e > 0.0) && (u & " + one +
            ") == " + module_.literal(Kind::U64, 0) + ";\n";
    body +=
        "    const " + u64 + " w = (e > 0.0) == (s > 0.0) ? u + " + one + " : u - " + one + ";\n";
    body += "    return (" + value_ + ")(fix ? " +
            module_.intrinsic(Intrinsic::BitsFloat, Kind::F64, "w") + " : s);\n";
    return help("fma", v, body);
}

// Floats: minimumNumber and maximumNumber. Equal operands differ only in the sign of zero, which
// `or` (for the least) and `and` of the bits settle.
std::string Scalar::extreme(const std::vector<std::string>& v, bool least) {
    const char* name = least ? "min" : "max";
    const std::string order = least ? " < " : " > ";
    if (!floating_)
        return help(name, v,
                    "    return " + as_native("a") + order + as_native("b") + " ? a : b;\n");
    const std::string joined =
        from_bits("(" + as_bits("a") + (least ? " | " : " & ") + as_bits("b") + ")");
    return help(
        name, v,
        "    return a == b ? " + joined + " : (a" + order + "b || " + is_nan("b") + ") ? a : b;\n");
}

std::string Scalar::saturate(const std::vector<std::string>& v, bool subtract) {
    const char* name = subtract ? "sub_sat" : "add_sat";
    if (!is_signed_) {
        if (subtract) return help(name, v, "    return a < b ? " + number(0) + " : a - b;\n");
        return help(name, v,
                    "    const " + value_ + " r = a + b;\n    return r < a ? " +
                        number(all_ones()) + " : r;\n");
    }
    // The result overflowed when its sign is wrong; then the sign of `a` says to which side.
    const std::string r = subtract ? "a - b" : "a + b";
    const std::string over = subtract ? "((a ^ b) & (a ^ r))" : "((a ^ r) & (b ^ r))";
    return help(name, v,
                "    const " + value_ + " r = " + r + ";\n    return (" + over + " & " +
                    number(sign_bit()) + ") == " + number(0) + " ? r : " + number(sign_bit() - 1) +
                    " + (a >> " + std::to_string(bits_ - 1) + "u);\n");
}

std::string Scalar::reverse(const std::vector<std::string>& v) {
    std::string body = "    " + value_ + " r = a;\n";
    for (unsigned step = 1; step < bits_; step *= 2) {
        // The mask that has `step` ones, `step` zeros, and so on from the low end.
        const std::uint64_t mask = all_ones() / ((std::uint64_t{1} << step) + 1);
        const std::string s = std::to_string(step) + "u";
        body += "    r = ((r >> " + s + ") & " + number(mask) + ") | ((r & " + number(mask) +
                ") << " + s + ");\n";
    }
    return help("reverse_bits", v, body + "    return r;\n");
}

// For the quirk `pocl-constant-rounding`: from 2^23 (2^52) on all values are whole; those, and
// NaNs, are kept away.
std::string Scalar::whole_number(Intrinsic what, const char* name,
                                 const std::vector<std::string>& v) {
    if (!module_.facts.quirks.has(Quirk::PoclConstantRounding)) return intrinsic(what, v);
    const std::string magnitude = from_bits(as_bits("a") + " & " + number(sign_bit() - 1));
    const std::string zero = bits_ == 64 ? "0.0" : "0.0f";
    return help(name, v,
                "    const bool small = " + magnitude + " < " +
                    (bits_ == 64 ? "4503599627370496.0" : "8388608.0f") + ";\n    return small ? " +
                    intrinsic(what, {"small ? a : " + zero}) + " : a;\n");
}

std::string Scalar::write(Op op, const std::vector<std::string>& v) {
    if (!half_ && (native_bit(op, kind_) & module_.natives) != 0) return native_function(op, v);
    if (!half_) return unrounded(op, v);
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
        case Op::SQRT:
            return half_step(module_, HalfStep::Round, unrounded(op, v));
        case Op::FMA:  // the product is exact in f32
            return half_step(module_, HalfStep::Round,
                             "(" + v[0] + " * " + v[1] + " + " + v[2] + ")");
        default:
            return unrounded(op, v);
    }
}

// Of two shifts, the second by what is left of the width. For the quirk `ptxas-late-shift` that is
// one step and the rest in 64 bits.
std::string Scalar::rotation(const std::string& there, const std::string& back) const {
    const std::string last = std::to_string(bits_ - 1) + "u";
    const bool in_steps = bits_ == 64 && module_.facts.quirks.has(Quirk::PtxasLateShift);
    const std::string width = std::to_string(bits_) + "u";
    const std::string rest = in_steps ? "((a " + back + " 1u) " + back + " (~b & 63u))"
                                      : "(a " + back + " ((" + width + " - b) & " + last + "))";
    return "    return (a " + there + " (b & " + last + ")) | " + rest + ";\n";
}

std::string Scalar::unrounded(Op op, const std::vector<std::string>& v) {
    const std::string last = std::to_string(bits_ - 1) + "u";
    if (const std::string body = module_.spelling.native(op, kind_, module_.facts.quirks);
        !body.empty())
        return help(std::string(ir::op_text(op)).c_str(), v, body);
    switch (op) {
        case Op::NEG:
            if (floating_) return from_bits("(" + as_bits(v[0]) + " ^ " + number(sign_bit()) + ")");
            return "(" + number(0) + " - " + v[0] + ")";
        case Op::NOT:
            return "(~" + v[0] + ")";
        case Op::LOGICAL_NOT:
            return "(!" + v[0] + ")";
        case Op::ADD:
            return infix("+", v);
        case Op::SUB:
            return infix("-", v);
        case Op::MUL:
            return infix("*", v);
        case Op::DIV:
            if (floating_)
                return rounded(kind_ == Kind::F64 ? Rounded::F64Div : Rounded::F32Div, v);
            return divide(v, false);
        case Op::REM:
            return divide(v, true);
        case Op::AND:
            return infix("&", v);
        case Op::OR:
            return infix("|", v);
        case Op::XOR:
            return infix("^", v);
        case Op::SHL:
            return shift(v, true);
        case Op::SHR:
            return shift(v, false);
        case Op::LOGICAL_AND:
            return infix("&&", v);
        case Op::LOGICAL_OR:
            return infix("||", v);
        case Op::EQ:
            return infix("==", v);
        case Op::NE:
            return infix("!=", v);
        case Op::LT:
            return compare("<", v);
        case Op::LE:
            return compare("<=", v);
        case Op::GT:
            return compare(">", v);
        case Op::GE:
            return compare(">=", v);
        case Op::ROTL:
            return help("rotl", v, rotation("<<", ">>"));
        case Op::ROTR:
            return help("rotr", v, rotation(">>", "<<"));
        case Op::POPCOUNT:
            return intrinsic(Intrinsic::PopCount, v);
        case Op::CLZ:
            return intrinsic(Intrinsic::Clz, v);
        case Op::CTZ:
            return help("ctz", v,
                        "    return " +
                            intrinsic(Intrinsic::PopCount, {"~a & (a - " + number(1) + ")"}) +
                            ";\n");
        case Op::REVERSE_BITS:
            return reverse(v);
        case Op::MUL_HI:
            return (is_signed_ ? "(" + value_ + ")" : std::string()) +
                   intrinsic(Intrinsic::MulHi, {as_native(v[0]), as_native(v[1])});
        case Op::ADD_SAT:
            return saturate(v, false);
        case Op::SUB_SAT:
            return saturate(v, true);
        case Op::ABS:
            if (floating_)
                return from_bits("(" + as_bits(v[0]) + " & " + number(sign_bit() - 1) + ")");
            return help("abs", v,
                        "    return " + as_native(v.size() == 2 ? "(a ^ b)" : "a") + " < 0 ? " +
                            number(0) + " - a : a;\n");
        case Op::MIN:
            return extreme(v, true);
        case Op::MAX:
            return extreme(v, false);
        case Op::CLAMP:
            return extreme({extreme({v[0], v[1]}, false), v[2]}, true);
        case Op::SQRT:
            return rounded(kind_ == Kind::F64 ? Rounded::F64Sqrt : Rounded::F32Sqrt, v);
        case Op::FMA:
            return rounded(kind_ == Kind::F64 ? Rounded::F64Fma : Rounded::F32Fma, v);
        case Op::COPYSIGN:
            return help(
                "copysign", v,
                "    const " + bits_type() + " s = " + is_nan("b") + " ? " + number(0) + " : " +
                    as_bits("b") + " & " + number(sign_bit()) + ";\n    return " +
                    from_bits("(" + as_bits("a") + " & " + number(sign_bit() - 1) + ") | s") +
                    ";\n");
        case Op::FLOOR:
            return whole_number(Intrinsic::Floor, "floor", v);
        case Op::CEIL:
            return whole_number(Intrinsic::Ceil, "ceil", v);
        case Op::TRUNC:
            return whole_number(Intrinsic::Trunc, "trunc", v);
        case Op::ROUND:
            return whole_number(Intrinsic::Rint, "round", v);
        case Op::ISNAN:
            return is_nan(v[0]);
        case Op::ISINF:
            return "((" + as_bits(v[0]) + " & " + number(sign_bit() - 1) +
                   ") == " + number(exponent()) + ")";
        default:
            break;
    }
    module_.refuse(
        Error(Code::UNSUPPORTED, "`" + std::string(ir::op_text(op)) + "` is not lowered to C yet",
              "Fix: use the `cpu` device, or leave the operation out", module_.program.name));
    return v.empty() ? std::string("0") : v[0];
}

}  // namespace

std::string scalar_operation(CModule& module, Op op, Kind operand,
                             const std::vector<std::string>& operands) {
    return Scalar(module, operand).write(op, operands);
}

// Only a NaN differs from itself. Compilers see through that sooner than through a test of bits,
// and it is one instruction less.
std::string canonical_nan(CModule& module, Kind kind, const std::string& operand) {
    const bool wide = kind == Kind::F64;
    const std::string name = wide ? "wye_canonical_f64" : "wye_canonical_f32";
    if (!module.has_helper(name)) {
        const std::string type(module.use_type(kind));
        const std::string nan = module.literal(kind, wide ? 0x7ff8000000000000U : 0x7fc00000U);
        module.add_helper(name, type + " " + name + "(const " + type +
                                    " a) {\n    return a != a ? " + nan + " : a;\n}\n");
    }
    return name + "(" + operand + ")";
}

}  // namespace wye::lower
