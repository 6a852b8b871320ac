// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/program.hpp"

#include <algorithm>

namespace wye::ir {

namespace {

struct KindName {
    Kind kind;
    std::string_view text;
};
constexpr KindName kKinds[] = {
#define WYE_KIND_ROW(name, code, text, bytes, bits) {Kind::name, text},
    WYE_KINDS(WYE_KIND_ROW)
#undef WYE_KIND_ROW
};

}  // namespace

std::string type_name(Type type) {
    for (const KindName& row : kKinds) {
        if (row.kind != type.kind) continue;
        std::string name(row.text);
        if (type.lanes != 1) name += "x" + std::to_string(type.lanes);
        return name;
    }
    return "none";
}

std::optional<Type> type_from_name(std::string_view name) {
    std::uint8_t lanes = 1;
    // The name of a vector type is a scalar type's name, `x` and the number of lanes: "f32x4". No
    // name of a scalar type contains an `x`.
    if (const auto cross = name.find('x'); cross != std::string_view::npos) {
        if (cross + 2 != name.size() || name[cross + 1] < '2' || name[cross + 1] > '4') return {};
        lanes = static_cast<std::uint8_t>(name[cross + 1] - '0');
        name = name.substr(0, cross);
    }
    for (const KindName& row : kKinds)
        if (row.text == name) return Type{row.kind, lanes};
    return {};
}

std::optional<Type> type_from_code(std::uint32_t code) {
    const std::uint32_t kind = code & 0xffU;
    const std::uint32_t lanes = code >> 8U;
    if (kind < 1 || kind >= WYE_KIND_FIRST_FREE || lanes < 1 || lanes > 4) return {};
    return Type{static_cast<Kind>(kind), static_cast<std::uint8_t>(lanes)};
}

bool canonical_bits(Kind kind, std::uint64_t bits) {
    const auto canonical_float = [bits](std::uint64_t infinity, std::uint64_t nan) {
        const std::uint64_t magnitude = infinity | (infinity - 1);  // all bits but the sign
        return (bits & magnitude) <= infinity || bits == nan;
    };
    switch (kind) {
        case Kind::BOOL:
            return bits <= 1;
        case Kind::I32:
        case Kind::U32:
            return bits >> 32U == 0;
        case Kind::I64:
        case Kind::U64:
            return true;
        case Kind::F16:
            return bits >> 16U == 0 && canonical_float(0x7c00U, 0x7e00U);
        case Kind::F32:
            return bits >> 32U == 0 && canonical_float(0x7f800000U, 0x7fc00000U);
        case Kind::F64:
            return canonical_float(0x7ff0000000000000U, 0x7ff8000000000000U);
        default:
            return false;
    }
}

std::string_view locality_name(Locality locality) {
    switch (locality) {
#define WYE_LOCALITY_TEXT(name, code, text) \
    case Locality::name:                    \
        return text;
        WYE_LOCALITIES(WYE_LOCALITY_TEXT)
#undef WYE_LOCALITY_TEXT
    }
    return "?";
}

std::string_view role_name(Role role) {
    switch (role) {
#define WYE_ROLE_TEXT(name, code, text) \
    case Role::name:                    \
        return text;
        WYE_ROLES(WYE_ROLE_TEXT)
#undef WYE_ROLE_TEXT
    }
    return "?";
}

std::string_view op_text(Op op) {
    switch (op) {
        case Op::None:
            break;
#define WYE_TEXT3(name, code, text) \
    case Op::name:                  \
        return text;
#define WYE_TEXT4(name, code, text, operands) WYE_TEXT3(name, code, text)
            WYE_STATEMENTS(WYE_TEXT3)
            WYE_LEAVES(WYE_TEXT4)
            WYE_OPERATORS(WYE_TEXT4)
            WYE_MATH(WYE_TEXT4)
            WYE_EFFECTS(WYE_TEXT4)
#undef WYE_TEXT3
#undef WYE_TEXT4
    }
    return "?";
}

std::string_view builtin_text(std::uint16_t index) {
    static constexpr std::string_view kNames[] = {
#define WYE_BUILTIN_NAME(name, index, text, lanes) text,
        WYE_BUILTINS(WYE_BUILTIN_NAME)
#undef WYE_BUILTIN_NAME
    };
    return index < std::size(kNames) ? kNames[index] : "?";
}

int op_operands(Op op) {
    switch (op) {
#define WYE_ARITY(name, code, text, operands) \
    case Op::name:                            \
        return operands;
        WYE_LEAVES(WYE_ARITY)
        WYE_OPERATORS(WYE_ARITY)
        WYE_MATH(WYE_ARITY)
        WYE_EFFECTS(WYE_ARITY)
#undef WYE_ARITY
        default:
            return 0;  // statements: their operands are in Stmt::args
    }
}

bool op_known(std::uint32_t code) {
    switch (code) {
#define WYE_KNOWN3(name, number, text) case number:
#define WYE_KNOWN4(name, number, text, operands) case number:
        WYE_STATEMENTS(WYE_KNOWN3)
        WYE_LEAVES(WYE_KNOWN4)
        WYE_OPERATORS(WYE_KNOWN4)
        WYE_MATH(WYE_KNOWN4)
        WYE_EFFECTS(WYE_KNOWN4)
#undef WYE_KNOWN3
#undef WYE_KNOWN4
        return true;
        default:
            return false;
    }
}

std::uint16_t least_minor(const Program& program) {
    const bool hints =
        std::ranges::any_of(program.buffers, [](const Buffer& b) { return b.hints.given(); });
    return hints ? 1 : 0;
}

ParamLayout param_layout(std::span<const Param> params) {
    ParamLayout layout;
    std::uint32_t largest = 1;
    for (const Param& param : params) {
        // Parameters are scalars of 4 or 8 bytes. The validator refuses other types; here, other
        // types must not cause a division by zero.
        const std::uint32_t bytes = std::max(1U, param.type.component().bytes());
        layout.size = (layout.size + bytes - 1) / bytes * bytes;
        layout.offsets.push_back(layout.size);
        layout.size += bytes;
        largest = std::max(largest, bytes);
    }
    layout.size = (layout.size + largest - 1) / largest * largest;
    return layout;
}

}  // namespace wye::ir
