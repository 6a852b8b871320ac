// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 as C text. A value of f16 is held as the f32 of the same value; below 2^-14 such
// values are the multiples of 2^-24, to which adding and taking away a power of two rounds.
#include <bit>

#include "lower/c/module.hpp"

namespace wye::lower {
namespace {

using ir::Kind;

// Replaces the words that differ between dialects: U (u32), F (f32), W (u64), D (f64), and the
// casts between bits and floats, BITS(x), FLOAT(x), WIDE(x), DOUBLE(x). Numbers: 64-bit ones in
// brackets.
std::string spelled(CModule& module, std::string_view body) {
    std::string out;
    const auto word = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
    for (std::size_t i = 0; i < body.size();) {
        if (body[i] == '[') {
            const std::size_t end = body.find(']', i);
            const auto value =
                std::stoull(std::string(body.substr(i + 1, end - i - 1)), nullptr, 16);
            out += module.literal(Kind::U64, value);
            i = end + 1;
            continue;
        }
        std::size_t end = i;
        while (end < body.size() && word(body[end])) ++end;
        const std::string_view name = body.substr(i, end - i);
        const auto cast = [&](Intrinsic what, Kind kind) {  // of the name in the brackets
            const std::size_t close = body.find(')', end);
            out += module.intrinsic(what, kind, std::string(body.substr(end + 1, close - end - 1)));
            end = close + 1;
        };
        if (name == "U") {
            out += module.value_type(Kind::U32);
        } else if (name == "F") {
            out += module.value_type(Kind::F32);
        } else if (name == "W") {
            out += module.value_type(Kind::U64);
        } else if (name == "D") {
            out += module.use_type(Kind::F64);
        } else if (name == "BITS") {
            cast(Intrinsic::FloatBits, Kind::F32);
        } else if (name == "FLOAT") {
            cast(Intrinsic::BitsFloat, Kind::F32);
        } else if (name == "WIDE") {
            cast(Intrinsic::FloatBits, Kind::F64);
        } else if (name == "DOUBLE") {
            cast(Intrinsic::BitsFloat, Kind::F64);
        } else {
            end = end == i ? i + 1 : end;
            out += body.substr(i, end - i);
        }
        i = end;
    }
    return out;
}

std::string helper(CModule& module, const std::string& name, std::string_view text,
                   const std::string& operand) {
    if (!module.has_helper(name)) module.add_helper(name, spelled(module, text));
    return name + "(" + operand + ")";
}

// From 65520 on the nearest f16 is infinity; below 2^-14 they are subnormal.
constexpr std::string_view kRound = R"(F wye_f16_round(const F x) {
    const U sign = BITS(x) & 0x80000000u;
    const U a = BITS(x) ^ sign;
    const F small = (FLOAT(a) + 0.5f) - 0.5f;
    const U large = a >= 0x477ff000u ? 0x7f800000u : (a + 0xfffu + ((a >> 13u) & 1u)) & 0xffffe000u;
    const U number = a < 0x38800000u ? BITS(small) : large;
    const U bits = (a > 0x7f800000u ? a : number) | sign;
    return FLOAT(bits);
}
)";

constexpr std::string_view kRoundWide = R"(F wye_f64_to_f16(const D x) {
    const W sign = WIDE(x) & [8000000000000000];
    const W a = WIDE(x) ^ sign;
    const D small = (DOUBLE(a) + 268435456.0) - 268435456.0;
    const W large = a >= [40effe0000000000] ? [7ff0000000000000]
        : (a + [1ffffffffff] + ((a >> 42u) & [1])) & [fffffc0000000000];
    const W number = a < [3f10000000000000] ? WIDE(small) : large;
    const W bits = (a > [7ff0000000000000] ? a : number) | sign;
    return (F)DOUBLE(bits);
}
)";

constexpr std::string_view kToBits = R"(U wye_f16_bits(const F x) {
    const U sign = (BITS(x) >> 16u) & 0x8000u;
    const U a = BITS(x) & 0x7fffffffu;
    const F small = FLOAT(a) + 0.5f;
    const U number = a < 0x38800000u ? BITS(small) - 0x3f000000u : (a - 0x38000000u) >> 13u;
    const U finite = (a == 0x7f800000u ? 0x7c00u : number) | sign;
    return a > 0x7f800000u ? 0x7e00u : finite;
}
)";

constexpr std::string_view kFromBits = R"(F wye_f16_value(const U h) {
    const U m = h & 0x7fffu;
    const F small = (F)m * 5.9604644775390625e-8f;
    const U number = (m << 13u) + 0x38000000u;
    const U large = m >= 0x7c00u ? number + 0x38000000u : number;
    const U bits = (m < 0x400u ? BITS(small) : large) | ((h & 0x8000u) << 16u);
    return FLOAT(bits);
}
)";

constexpr std::string_view kToBf16 = R"(U wye_bf16_bits(const F x) {
    const U u = BITS(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : (u + 0x7fffu + ((u >> 16u) & 1u)) >> 16u;
}
)";

}  // namespace

std::uint32_t f32_of_f16(std::uint64_t bits) {
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const auto m = static_cast<std::uint32_t>(bits & 0x7fffU);
    if (m < 0x400U) return sign | std::bit_cast<std::uint32_t>(static_cast<float>(m) * 0x1p-24F);
    return sign | ((m << 13U) + (m >= 0x7c00U ? 0x70000000U : 0x38000000U));
}

std::string half_step(CModule& module, HalfStep step, const std::string& operand) {
    const std::string name = step == HalfStep::Round    ? "wye_f16_round"
                             : step == HalfStep::ToBits ? "wye_f16_bits"
                                                        : "wye_f16_value";
    const std::string body = module.spelling.half(step);
    if (body.empty())
        return helper(module, name,
                      step == HalfStep::Round    ? kRound
                      : step == HalfStep::ToBits ? kToBits
                                                 : kFromBits,
                      operand);
    const std::string f32(module.value_type(Kind::F32));
    const std::string u32(module.value_type(Kind::U32));
    module.add_helper(name, (step == HalfStep::ToBits ? u32 : f32) + " " + name + "(const " +
                                (step == HalfStep::FromBits ? u32 : f32) + " x) {\n" + body +
                                "}\n");
    return name + "(" + operand + ")";
}

std::string f64_to_f16(CModule& module, const std::string& operand) {
    return helper(module, "wye_f64_to_f16", kRoundWide, operand);
}

std::string f32_to_bf16_bits(CModule& module, const std::string& operand) {
    return helper(module, "wye_bf16_bits", kToBf16, operand);
}

std::string bf16_bits_to_f32(CModule& module, const std::string& operand) {
    const std::string u32(module.value_type(Kind::U32));
    return module.intrinsic(Intrinsic::BitsFloat, Kind::F32, "(" + u32 + ")" + operand + " << 16u");
}

}  // namespace wye::lower
