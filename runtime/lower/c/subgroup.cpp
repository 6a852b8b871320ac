// SPDX-License-Identifier: Apache-2.0
//
// Subgroup operations as C text, from a dialect's shuffles and ballot: reductions and scans in the
// order that the language fixes, so that float sums have the same bits everywhere.
#include "lower/c/module.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// The scalar operation that a reduction or scan repeats.
Op step_of(Op op) {
    switch (op) {
        case Op::SUBGROUP_MIN:
            return Op::MIN;
        case Op::SUBGROUP_MAX:
            return Op::MAX;
        case Op::SUBGROUP_AND:
            return Op::AND;
        case Op::SUBGROUP_OR:
            return Op::OR;
        case Op::SUBGROUP_XOR:
            return Op::XOR;
        default:
            return Op::ADD;
    }
}

// v combined with the lane at distance 1, 2, 4 up to half the width.
std::string reduction(CModule& module, Op op, Kind kind, const std::string& name) {
    const std::string type(module.use_type(kind));
    std::string text = type + " " + name + "(" + type + " v) {\n";
    for (unsigned distance = 1; distance < module.subgroup; distance *= 2) {
        const std::string other =
            module.spelling.shuffle_xor(kind, module.subgroup, "v", std::to_string(distance) + "u");
        text +=
            "    v = " +
            scalar_operation(module, step_of(op), kind, std::array<std::string, 2>{"v", other}) +
            ";\n";
    }
    return text + "    return v;\n}\n";
}

std::string scan(CModule& module, Op op, Kind kind, const std::string& name) {
    const std::string type(module.use_type(kind));
    const std::string u32(module.value_type(Kind::U32));
    const std::string last = std::to_string(module.subgroup - 1) + "u";
    std::string text =
        type + " " + name + "(" + type + " v, const " + u32 + " lane) {\n    " + type + " below;\n";
    const auto fetch = [&](unsigned distance) {
        const std::string lane = "(lane - " + std::to_string(distance) + "u) & " + last;
        return "    below = " +
               module.spelling.shuffle(kind, module.subgroup, "v", "(" + lane + ")") + ";\n";
    };
    for (unsigned distance = 1; distance < module.subgroup; distance *= 2)
        text += fetch(distance) + "    v = lane >= " + std::to_string(distance) + "u ? " +
                scalar_operation(module, Op::ADD, kind, std::array<std::string, 2>{"below", "v"}) +
                " : v;\n";
    if (op == Op::SUBGROUP_EXCLUSIVE_ADD)
        text += fetch(1) + "    v = lane == 0u ? " + module.literal(kind, 0) + " : below;\n";
    return text + "    return v;\n}\n";
}

// Are lanes with a true condition in the ballot, in any or in all of the subgroup?
std::string vote(CModule& module, bool all, const std::string& condition) {
    std::string text;
    for (unsigned first = 0; first < module.subgroup; first += 32) {
        const unsigned lanes = module.subgroup - first < 32 ? module.subgroup - first : 32;
        const std::uint64_t full = lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
        const std::string bits = module.spelling.ballot(module.subgroup, first / 32, condition);
        text += std::string(text.empty() ? ""
                            : all        ? " && "
                                         : " || ") +
                "(" + bits + (all ? " == " : " != ") + module.literal(Kind::U32, all ? full : 0) +
                ")";
    }
    return "(" + text + ")";
}

}  // namespace

std::string subgroup_operation(CModule& module, Op op, Kind kind,
                               const std::vector<std::string>& operands, const std::string& lane) {
    const std::string last = std::to_string(module.subgroup - 1) + "u";
    switch (op) {
        case Op::SUBGROUP_BROADCAST:
        case Op::SUBGROUP_SHUFFLE:
            return module.spelling.shuffle(kind, module.subgroup, operands[0],
                                           "(" + operands[1] + " & " + last + ")");
        case Op::SUBGROUP_SHUFFLE_XOR:
            return module.spelling.shuffle_xor(kind, module.subgroup, operands[0],
                                               "(" + operands[1] + " & " + last + ")");
        case Op::SUBGROUP_ANY:
        case Op::SUBGROUP_ALL:
            return vote(module, op == Op::SUBGROUP_ALL, operands[0]);
        default:
            break;
    }
    const bool scans = op == Op::SUBGROUP_INCLUSIVE_ADD || op == Op::SUBGROUP_EXCLUSIVE_ADD;
    const std::string name = "wye_" + std::string(ir::op_text(op)) + "_" + ir::type_name({kind, 1});
    if (!module.has_helper(name))
        module.add_helper(name,
                          scans ? scan(module, op, kind, name) : reduction(module, op, kind, name));
    return name + "(" + operands[0] + (scans ? ", " + lane : "") + ")";
}

}  // namespace wye::lower
