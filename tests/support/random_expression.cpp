// SPDX-License-Identifier: Apache-2.0
#include "support/random_expression.hpp"

#include <bit>
#include <cmath>
#include <cstdio>

#include "support/half.hpp"

namespace support {
namespace {

const char* kind_name(unsigned kind) {
    switch (kind) {
#define WYE_SUPPORT_NAME(name, code, text, bytes, bits) \
    case code:                                          \
        return text;
        WYE_KINDS(WYE_SUPPORT_NAME)
#undef WYE_SUPPORT_NAME
        default:
            return "?";
    }
}

std::string hex_float(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", value);
    return text;
}

std::string scalar_literal(unsigned kind, std::uint64_t bits) {
    switch (kind) {
        case WYE_KIND_BOOL:
            return (bits & 1) != 0 ? "true" : "false";
        case WYE_KIND_I32:
            return std::to_string(static_cast<std::int32_t>(bits));
        case WYE_KIND_I64:
            return std::to_string(static_cast<std::int64_t>(bits)) + "i64";
        case WYE_KIND_U32:
            return std::to_string(static_cast<std::uint32_t>(bits)) + "u";
        case WYE_KIND_U64:
            return std::to_string(bits) + "u64";
        default: {
            const bool wide = kind == WYE_KIND_F64;
            const bool half = kind == WYE_KIND_F16;
            const double value =
                wide ? std::bit_cast<double>(bits)
                : half
                    ? value_of_half(bits)
                    : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
            const std::string suffix = kind_name(kind);
            if (std::isnan(value)) return "nan_" + suffix;
            if (std::isinf(value)) return (value < 0 ? "-inf_" : "inf_") + suffix;
            return hex_float(value) + (wide || half ? suffix : "");
        }
    }
}

}  // namespace

std::string cat(std::initializer_list<std::string> parts) {
    std::string out;
    for (const std::string& p : parts) out += p;
    return out;
}

std::string TextType::name() const {
    return kind_name(kind) + (lanes == 1 ? std::string() : "x" + std::to_string(lanes));
}

unsigned TextType::scalar_bytes() const {
    switch (kind) {
#define WYE_SUPPORT_BYTES(name, code, text, bytes, bits) \
    case code:                                           \
        return bytes;
        WYE_KINDS(WYE_SUPPORT_BYTES)
#undef WYE_SUPPORT_BYTES
        default:
            return 0;
    }
}

TextType TextType::loaded() const {
    switch (kind) {
        case WYE_KIND_I8:
        case WYE_KIND_I16:
            return {WYE_KIND_I32, lanes};
        case WYE_KIND_U8:
        case WYE_KIND_U16:
            return {WYE_KIND_U32, lanes};
        case WYE_KIND_BF16:
            return {WYE_KIND_F32, lanes};
        default:
            return *this;
    }
}

std::string TextType::suffix() const {
    switch (kind) {
        case WYE_KIND_U32:
            return "u";
        case WYE_KIND_I64:
            return "i64";
        case WYE_KIND_U64:
            return "u64";
        default:
            return "";
    }
}

TextType Expressions::any_type(bool with_bool) {
    const std::size_t first = with_bool ? 0 : 1;
    const unsigned kind = kinds_[first + random_.below(kinds_.size() - first)];
    return {kind, random_.chance(75) ? 1 : static_cast<unsigned>(random_.between(2, 4))};
}

TextType Expressions::integer_type() {
    for (;;) {
        const TextType type{random_.pick(kinds_), 1};
        if (type.integer()) return type;
    }
}

std::string Expressions::literal(TextType type) {
    if (type.lanes > 1) {
        std::string out = type.name() + "(";
        for (unsigned i = 0; i < type.lanes; ++i)
            out += (i == 0 ? "" : ", ") + literal(type.with_lanes(1));
        return out + ")";
    }
    const std::string text = scalar_literal(
        type.kind, type.boolean() ? random_.next() : random_scalar(random_, type.kind));
    return text[0] == '-' ? "(" + text + ")" : text;
}

std::string Expressions::place() {
    static const std::vector<std::string> kUniform = {
        "workgroup_id.x",   "workgroup_id.y",   "workgroup_id.z",
        "num_workgroups.x", "num_workgroups.y", "num_workgroups.z",
        "workgroup_size.x", "workgroup_size.y", "workgroup_size.z",
    };
    static const std::vector<std::string> kOwn = {"local_id.x",  "local_id.y",  "local_id.z",
                                                  "global_id.x", "global_id.y", "global_id.z",
                                                  "local_index"};
    const bool uniform = scope_.uniform_only || random_.chance(30);
    if (scope_.subgroups && random_.chance(25)) {
        const bool first = random_.chance(50);
        if (uniform) return first ? "subgroup_size" : "num_subgroups";
        return first ? "subgroup_id" : "subgroup_lane";
    }
    return random_.pick(uniform ? kUniform : kOwn);
}

std::string Expressions::leaf(TextType type) {
    std::vector<std::string> choices;
    for (const Variable& v : scope_.variables)
        if (!v.array && v.type == type && (v.uniform || !scope_.uniform_only))
            choices.push_back(v.name);
    for (const Variable& p : scope_.params)
        if (p.type == type) choices.push_back(p.name);
    if (!choices.empty() && random_.chance(70)) return random_.pick(choices);
    if (type == kTextU32 && random_.chance(60)) {
        std::vector<std::string> arrays;
        for (const Memory& m : scope_.memory) arrays.push_back(m.name);
        for (const Variable& v : scope_.variables)
            if (v.array) arrays.push_back(v.name);
        if (!arrays.empty() && random_.chance(20)) return "len(" + random_.pick(arrays) + ")";
        return place();
    }
    if (type == TextType{WYE_KIND_U64, 1} && !scope_.memory.empty() && random_.chance(20))
        return "len64(" + random_.pick(scope_.memory).name + ")";
    if (type == TextType{WYE_KIND_U32, 3} && random_.chance(40))
        return scope_.uniform_only ? "num_workgroups" : "global_id";
    return literal(type);
}

std::string Expressions::index(int depth) {
    const TextType type = integer_type();
    if (random_.chance(10)) return literal(type);
    const std::string e = expression(type, depth);
    if (random_.chance(15)) return e;  // any expression
    if (random_.chance(15)) {          // low bits of a multiple
        static const std::vector<std::string> kFactors = {"3", "5", "6", "7"};
        static const std::vector<std::string> kMasks = {"7", "15", "63"};
        return cat({"(", scope_.uniform_only || type != kTextU32 ? e : place(), ") * ",
                    random_.pick(kFactors), type.suffix(), " & ", random_.pick(kMasks),
                    type.suffix()});
    }
    static const std::vector<std::string> kModuli = {"3", "5", "8", "17", "64"};
    return cat({e, " % ", random_.pick(kModuli), type.suffix()});
}

std::string Expressions::load(TextType type, int depth) {
    std::vector<const Memory*> choices;
    for (const Memory& m : scope_.memory)
        if (m.readable && m.element.loaded() == type && (m.uniform || !scope_.uniform_only) &&
            !(m.indexed_by_place && scope_.in_function))
            choices.push_back(&m);
    if (choices.empty()) return {};
    const Memory& m = *random_.pick(choices);
    return m.name + "[" + (m.own.empty() ? index(depth - 1) : random_.pick(m.own)) + "]";
}

std::string Expressions::call(const std::string& name, const std::vector<TextType>& types,
                              int depth) {
    std::string out = name + "(";
    for (std::size_t i = 0; i < types.size(); ++i)
        out += (i == 0 ? "" : ", ") + expression(types[i], depth - 1);
    return out + ")";
}

std::string Expressions::binary(const std::string& op, TextType a, TextType b, int depth) {
    const std::string left = expression(a, depth - 1);
    return "(" + left + " " + op + " " + expression(b, depth - 1) + ")";
}

std::string Expressions::expression(TextType type, int depth) {
    if (depth <= 0 || random_.chance(12)) return leaf(type);
    if (random_.chance(20)) {
        const std::string text = load(type, depth);
        if (!text.empty()) return text;
    }
    if (random_.chance(30)) return general(type, depth);
    if (type.lanes > 1 && random_.chance(20)) return vector(type, depth);
    if (type.boolean()) return boolean(type, depth);
    return type.floating() ? floating(type, depth) : integer(type, depth);
}

// Makes an expression of a form that every type has.
std::string Expressions::general(TextType type, int depth) {
    switch (random_.below(5)) {
        case 0: {
            const TextType condition = kTextBool.with_lanes(random_.chance(50) ? type.lanes : 1);
            return call("select", {condition, type, type}, depth);
        }
        case 1:
            if (type.lanes == 1) {  // a component of a vector
                const auto lanes = static_cast<unsigned>(random_.between(2, 4));
                const char component = "xyzw"[random_.below(lanes)];
                return "(" + expression(type.with_lanes(lanes), depth - 1) + ")." + component;
            }
            return vector(type, depth);
        case 2: {
            std::vector<const Callable*> choices;
            for (const Callable& f : scope_.functions)
                if (f.type == type) choices.push_back(&f);
            if (choices.empty() || scope_.uniform_only) return leaf(type);
            const Callable& f = *random_.pick(choices);
            return call(f.name, f.arguments, depth);
        }
        case 3:
            return type.boolean() ? boolean(type, depth) : conversion(type, depth);
        default: {
            std::vector<std::string> arrays;
            for (const Variable& v : scope_.variables)
                if (v.array && v.type == type && !scope_.uniform_only) arrays.push_back(v.name);
            if (arrays.empty()) return bitcast(type, depth);
            return cat({random_.pick(arrays), "[", index(depth - 1), "]"});
        }
    }
}

std::string Expressions::conversion(TextType type, int depth) {
    const TextType from{random_.pick(kinds_), type.lanes};
    // A cast of an expression of any kind.
    return type.name() + "(" + expression(from, depth - 1) + ")";
}

std::string Expressions::bitcast(TextType type, int depth) {
    const auto has = [&](unsigned kind) {
        for (const unsigned k : kinds_)
            if (k == kind) return true;
        return false;
    };
    if (type == TextType{WYE_KIND_U32, 2} && has(WYE_KIND_U64))
        return "bitcast<u32x2>(" + expression({WYE_KIND_U64, 1}, depth - 1) + ")";
    if (has(WYE_KIND_F16)) {
        if (type == TextType{WYE_KIND_F16, 2} && random_.chance(20))
            return "bitcast<f16x2>(u32(" + expression(kTextBool, depth - 1) + "))";
        if (type == TextType{WYE_KIND_F16, 2})
            return "bitcast<f16x2>(" + expression(kTextU32, depth - 1) + ")";
        if (type == kTextU32 && random_.chance(50))
            return "bitcast<u32>(" + expression({WYE_KIND_F16, 2}, depth - 1) + ")";
    }
    if (type == TextType{WYE_KIND_U64, 1} && random_.chance(50))
        return "bitcast<u64>(" + expression({WYE_KIND_U32, 2}, depth - 1) + ")";
    std::vector<unsigned> kinds;
    if (type.scalar_bytes() == 4) kinds = {WYE_KIND_I32, WYE_KIND_U32, WYE_KIND_F32};
    if (type.scalar_bytes() == 8) kinds = {WYE_KIND_I64, WYE_KIND_U64, WYE_KIND_F64};
    if (kinds.empty()) return leaf(type);
    const TextType from{random_.pick(kinds), type.lanes};
    if (!has(from.kind)) return leaf(type);
    return "bitcast<" + type.name() + ">(" + expression(from, depth - 1) + ")";
}

bool Expressions::has_half() const {
    for (const unsigned kind : kinds_)
        if (kind == WYE_KIND_F16) return true;
    return false;
}

std::string Expressions::vector(TextType type, int depth) {
    const TextType scalar = type.with_lanes(1);
    if (random_.chance(40)) return call(type.name(), {scalar}, depth);
    return call(type.name(), std::vector<TextType>(type.lanes, scalar), depth);
}

std::string Expressions::integer(TextType type, int depth) {
    static const std::vector<std::string> kOperators = {"+", "-", "*", "/", "%", "&", "|", "^"};
    static const std::vector<std::string> kTwo = {"min", "max", "mul_hi", "add_sat", "sub_sat"};
    static const std::vector<std::string> kOne = {"popcount", "clz", "ctz", "reverse_bits", "~"};
    switch (random_.below(8)) {
        case 0:
            return binary(random_.chance(50) ? "<<" : ">>", type, {WYE_KIND_U32, type.lanes},
                          depth);
        case 1:
            return call(random_.pick(kTwo), {type, type}, depth);
        case 2:
            return call(random_.pick(kOne), {type}, depth);
        case 3:
            if (type.is_signed()) return call(random_.chance(50) ? "abs" : "-", {type}, depth);
            return call(random_.chance(50) ? "rotl" : "rotr", {type, {WYE_KIND_U32, type.lanes}},
                        depth);
        case 4:
            if (random_.chance(20) && has_half())
                return cat({type.name(), "(", TextType{WYE_KIND_F16, type.lanes}.name(), "(",
                            expression(type, depth - 1), "))"});
            return random_.chance(30) ? call("clamp", {type, type, type}, depth)
                                      : conversion(type, depth);
        default:
            return binary(random_.pick(kOperators), type, type, depth);
    }
}

std::string Expressions::floating(TextType type, int depth) {
    static const std::vector<std::string> kOperators = {"+", "-", "*", "/"};
    static const std::vector<std::string> kTwo = {"min", "max", "copysign"};
    static const std::vector<std::string> kOne = {"-",    "abs",   "sqrt", "floor",
                                                  "ceil", "trunc", "round"};
    switch (random_.below(scope_.math != 0 && type.kind != WYE_KIND_F16 ? 8 : 7)) {
        case 0:
            return call(random_.pick(kTwo), {type, type}, depth);
        case 1:
            return call(random_.pick(kOne), {type}, depth);
        case 7:
            return math(type, depth);
        case 2:
            return call(random_.chance(70) ? "fma" : "clamp", {type, type, type}, depth);
        case 3:
            return conversion(type, depth);
        default:
            return binary(random_.pick(kOperators), type, type, depth);
    }
}

std::string Expressions::math(TextType type, int depth) {
    struct Function {
        const char* name;
        std::size_t operands;
    };
    static const std::vector<Function> kFunctions = {
#define WYE_SUPPORT_MATH(name, code, text, operands) {text, operands},
        WYE_MATH(WYE_SUPPORT_MATH)
#undef WYE_SUPPORT_MATH
    };
    const std::size_t later = scope_.math > 1 ? 0 : WYE_OP_COSPI - WYE_OP_ERF;  // only in set 2
    const Function& function = kFunctions[random_.below(kFunctions.size() - later)];
    return call(function.name, std::vector<TextType>(function.operands, type), depth);
}

std::string Expressions::boolean(TextType type, int depth) {
    static const std::vector<std::string> kComparisons = {"==", "!=", "<", "<=", ">", ">="};
    switch (random_.below(6)) {
        case 0:
            return binary(random_.chance(50) ? "&&" : "||", type, type, depth);
        case 1:
            return "!" + expression(type, depth - 1);
        case 2: {
            // A float kind, if floats are in use.
            const TextType f{random_.chance(50) ? kinds_.back() : random_.pick(kinds_), type.lanes};
            if (!f.floating()) break;
            return call(random_.chance(70) ? "isnan" : "isinf", {f}, depth);
        }
        case 3:
            if (type.lanes == 1) {
                const auto lanes = static_cast<unsigned>(random_.between(2, 4));
                return call(random_.chance(50) ? "any" : "all", {kTextBool.with_lanes(lanes)},
                            depth);
            }
            return binary(random_.chance(50) ? "==" : "!=", type, type, depth);
        default:
            break;
    }
    const TextType of{kinds_[1 + random_.below(kinds_.size() - 1)], type.lanes};
    return binary(random_.pick(kComparisons), of, of, depth);
}

}  // namespace support
