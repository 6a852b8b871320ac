// SPDX-License-Identifier: Apache-2.0
#include "lower/c/module.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "lower/analysis/barrier_data.hpp"
#include "lower/c/words.hpp"

namespace wye::lower {

using ir::Kind;

std::string name_of(Outer outer) {
    static constexpr std::string_view kNames[] = {
        // by Outer::Kind
        "b", "n", "m", "l", "s", "p", "wg", "lid", "gid", "ng", "li", "sg", "lane", "oz", "trap"};
    std::string name(kNames[static_cast<std::size_t>(outer.kind)]);
    if (outer.kind < Outer::Kind::LocalIndex) name += std::to_string(outer.index);
    return name;
}

std::string sanitised(std::string_view name) {
    std::string out;
    for (const char c : name.substr(0, 64)) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out += plain ? c : '_';
    }
    return out;
}

std::string at_place(ir::Place place) {
    if (place.line == 0) return {};
    return " at " + std::to_string(place.line) + ":" + std::to_string(place.column);
}

CModule::CModule(const ir::Program& program_, const Spelling& spelling_, const TargetFacts& facts_,
                 const Options& options_, std::uint32_t subgroup_)
    : program(program_),
      spelling(spelling_),
      facts(facts_),
      workgroup(options_.workgroup.value_or(program_.workgroup)),
      folded_grid(options_.folded_grid),
      natives(options_.natives),
      subgroup(subgroup_),
      masked_indices(facts_.quirks.has(Quirk::LlvmMaskedAffineIndex)
                         ? MaskedIndices(program_, workgroup)
                         : MaskedIndices()),
      passes_buffers(std::ranges::count(passed_at_barriers(program_), true) != 0),
      forms(c_target(spelling_, facts_, subgroup_)),
      form(program_, workgroup, forms.target(), options_.check_free),
      functions(program_.functions.size()) {}

std::string CModule::element_type(const middle::Array& array) const {
    if (array.packed) return spelling.vector_type({array.cell, array.type.lanes});
    return std::string(spelling.type(array.cell));
}

std::string CModule::declaration(Outer outer) const {
    const std::string name = name_of(outer);
    switch (outer.kind) {
        case Outer::Kind::Buffer: {
            const ir::Buffer& buffer = program.buffers[outer.index];
            return spelling.pointer(Space::Global, element_type(form.buffer(outer.index)),
                                    !ir::role_writable(buffer.role), true) +
                   " " + name;
        }
        case Outer::Kind::Shared:
            return spelling.pointer(Space::Shared, element_type(form.buffer(outer.index)), false,
                                    false) +
                   " " + name;
        case Outer::Kind::Param:
            return "const " + std::string(value_type(program.params[outer.index].type.kind)) + " " +
                   name;
        case Outer::Kind::Length64:
        case Outer::Kind::OpaqueZero:
            return "const " + std::string(value_type(Kind::U64)) + " " + name;
        case Outer::Kind::Trap:
            return spelling.pointer(Space::Global, value_type(Kind::U32), false, true) + " " + name;
        default:
            return "const " + std::string(value_type(Kind::U32)) + " " + name;
    }
}

namespace {

// Returns the shortest decimal that stands for the same float, always with a point or an exponent.
template <typename Float>
std::string decimal(Float value) {
    char buffer[64];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string out(buffer, result.ptr);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
}

template <typename Float, typename Bits>
std::string float_literal(const CModule& module, Kind kind, Bits bits, std::string_view suffix) {
    const auto value = std::bit_cast<Float>(bits);
    if (!std::isfinite(value))
        return module.intrinsic(Intrinsic::BitsFloat, kind,
                                module.literal(sizeof bits == 8 ? Kind::U64 : Kind::U32, bits));
    std::string out = decimal(value) + std::string(suffix);
    return out.front() == '-' ? "(" + out + ")" : out;
}

}  // namespace

std::string CModule::literal(Kind kind, std::uint64_t bits) const {
    switch (kind) {
        case Kind::BOOL:
            return bits != 0 ? "true" : "false";
        case Kind::F32:
            return float_literal<float>(*this, kind, static_cast<std::uint32_t>(bits), "f");
        case Kind::F16:
            return float_literal<float>(*this, Kind::F32, f32_of_f16(bits), "f");
        case Kind::F64:
            return float_literal<double>(*this, kind, bits, "");
        default:
            break;
    }
    const bool wide = kind == Kind::I64 || kind == Kind::U64;
    const std::uint64_t mask = wide ? ~std::uint64_t{0} : 0xffffffffU;
    const std::string_view suffix = wide ? spelling.u64_suffix() : "u";
    // Large values are masks or negative numbers, which read better in hexadecimal.
    if ((bits & mask) < (std::uint64_t{1} << 31U))
        return std::to_string(bits & mask) + std::string(suffix);
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, bits & mask, 16);
    return "0x" + std::string(buffer, result.ptr) + std::string(suffix);
}

std::string CModule::intrinsic(Intrinsic what, Kind kind, std::string operand) const {
    const std::string operands[] = {std::move(operand)};
    return spelling.intrinsic(what, kind, operands);
}

std::string_view CModule::use_type(Kind kind) {
    if (kind == Kind::F64) used.f64 = true;
    return value_type(kind);
}

std::string CModule::vector_struct(ir::Type type) {
    const std::string element(use_type(type.kind));
    const std::string name = "wye_" + element + "x" + std::to_string(type.lanes);
    if (helper_names_.insert(name).second) {
        helpers_ += "struct " + name + " {\n    " + element + " ";
        for (unsigned k = 0; k < type.lanes; ++k)
            helpers_ += std::string(k == 0 ? "" : ", ") + "xyzw"[k];
        helpers_ += ";\n};\n";
    }
    return "struct " + name;
}

void CModule::add_helper(const std::string& name, const std::string& text) {
    if (!helper_names_.insert(name).second) return;
    helpers_ += spelling.function_prefix();
    helpers_ += text;
}

void CModule::refuse(Error error) {
    if (!refusal_) refusal_ = std::move(error);
}

}  // namespace wye::lower
