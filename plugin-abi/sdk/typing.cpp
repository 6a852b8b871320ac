// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/typing.hpp"

#include <algorithm>

namespace wye::ir {

namespace {

std::string quoted(Op op) { return "`" + std::string(op_text(op)) + "`"; }

Typing wrong(std::string problem, std::string fix) {
    return {{}, std::move(problem), std::move(fix)};
}
Typing gives(Type type) { return {type, {}, {}}; }

std::string list(std::span<const Type> types) {
    std::string text;
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (i > 0) text += i + 1 == types.size() ? " and " : ", ";
        text += type_name(types[i]);
    }
    return text;
}

bool number(Type t) { return t.integer() || t.floating(); }
bool value_type(Type t) { return !t.none() && !t.storage(); }
bool index_type(Type t) { return t.integer() && t.scalar(); }

// The operand types that an operator takes, as a predicate and as text for messages.
struct Class {
    bool (*holds)(Type);
    const char* text;
};
constexpr Class kInts{[](Type t) { return t.integer(); }, "integers"};
constexpr Class kUnsigned{[](Type t) { return t.unsigned_integer(); }, "u32 or u64"};
constexpr Class kFloats{[](Type t) { return t.floating(); }, "floats"};
constexpr Class kNumbers{[](Type t) { return number(t); }, "numbers"};
constexpr Class kSigned{[](Type t) { return t.signed_integer() || t.floating(); },
                        "signed integers or floats"};
constexpr Class kBools{[](Type t) { return t.boolean(); }, "bool"};
constexpr Class kAny{[](Type t) { return number(t) || t.boolean(); }, "numbers or bool"};
constexpr Class kMath{[](Type t) { return t.kind == Kind::F32 || t.kind == Kind::F64; },
                      "f32 or f64"};

// The operands of a node. `ids` is empty if only their types are known.
struct Operands {
    const Code& code;
    Op op;
    std::span<const ExprId> ids;
    std::span<const Type> types;
    [[nodiscard]] ExprId id(std::size_t k) const { return k < ids.size() ? ids[k] : kNone; }
};

// The remedy for operands of one type that the operation does not take.
std::string operand_fix(Op op, Type got) {
    if (op_math(op) && got.kind == Kind::F16)
        return "Fix: convert the f16 value to f32 first, as in `f32(x)`";
    if (op == Op::REM && got.floating()) return "Fix: write `x - trunc(x / y) * y`";
    if (op == Op::NEG && got.unsigned_integer()) return "Fix: write `" + zero(got) + " - x`";
    if ((op == Op::LOGICAL_NOT || op == Op::LOGICAL_AND || op == Op::LOGICAL_OR) && number(got))
        return "Fix: compare first, as in `" + nonzero(got) + "`";
    if (got.boolean() && (op == Op::AND || op == Op::OR || op == Op::XOR || op == Op::NOT))
        return std::string("Fix: write `") +
               (op == Op::AND   ? "&&"
                : op == Op::OR  ? "||"
                : op == Op::XOR ? "!="
                                : "!") +
               "`";
    return "Fix: convert the operand, or use an operation for " + type_name(got.component());
}

// All operands must have one type, which is in `allowed`. The result has that type, or is a bool
// with as many lanes.
Typing same_type(const Operands& given, const Class& allowed, bool to_bool = false) {
    const Op op = given.op;
    const std::span<const Type> got = given.types;
    for (const Type t : got)
        if (t != got[0])
            return wrong(quoted(op) + " takes values of one type, got " + list(got),
                         agreement_fix(given.code, given.ids, got));
    if (!allowed.holds(got[0]))
        return wrong(quoted(op) + " takes " + allowed.text + ", got " + list(got),
                     operand_fix(op, got[0]));
    return gives(to_bool ? Type{Kind::BOOL, got[0].lanes} : got[0]);
}

// A shift or rotation: the count is u32, with as many lanes as the value.
Typing shift(const Operands& given, const Class& allowed) {
    const Op op = given.op;
    const std::span<const Type> got = given.types;
    if (!allowed.holds(got[0]))
        return wrong(quoted(op) + " takes " + allowed.text + ", got " + type_name(got[0]),
                     "Fix: convert the value, or bitcast it to an integer type");
    const Type count = kU32.with_lanes(got[0].lanes);
    if (got[1] != count)
        return wrong("the count of " + quoted(op) + " is " + type_name(count) + " here, got " +
                         type_name(got[1]),
                     conversion_fix(given.code, given.id(1), got[1], count));
    return gives(got[0]);
}

Typing check_index(const std::string& array, Type index) {
    if (index_type(index)) return gives({});
    return wrong("the index of `" + array + "` is " + type_name(index) + ", not a scalar integer",
                 "Fix: index with a u32, i32, u64 or i64 value");
}

Typing element(const std::string& array, Type index, Type result) {
    Typing checked = check_index(array, index);
    if (checked.ok()) checked.type = result;
    return checked;
}

std::string local_name(const Code& code, std::uint64_t number) {
    const std::string& name = code.locals[number].name;
    return name.empty() ? "v" + std::to_string(number) : name;
}

Typing convert(Type to, Type from) {
    if (to == from && value_type(to)) return gives(to);
    if (to.storage())
        return wrong("`" + type_name(to) + "` is a storage type; no value has it",
                     "Fix: store the value into a buffer of that type, or mask it with `& 0xffu`");
    if (to.lanes != from.lanes)
        return wrong(
            "cannot convert " + type_name(from) + " to " + type_name(to) + ": they differ in width",
            "Fix: convert to " + type_name(to.with_lanes(from.lanes)) +
                ", and build vectors from scalars");
    if (to.boolean())
        return wrong("nothing converts to bool, got " + type_name(from), "Fix: write `x != 0`");
    if (!number(to) || !(number(from) || from.boolean()) || (from.boolean() && !number(to)))
        return wrong("cannot convert " + type_name(from) + " to " + type_name(to),
                     "Fix: convert between numbers of one width");
    return gives(to);
}

Typing bitcast(Type to, Type from) {
    const auto plain = [](Type t) { return (t.integer() || t.floating()) && t.kind != Kind::F16; };
    const auto pair = [](Type a, Type b) {
        return (a == kU32 && b == kF16.with_lanes(2)) || (a == kU64 && b == kU32.with_lanes(2));
    };
    const bool same_shape =
        plain(to) && plain(from) && to.bits() == from.bits() && to.lanes == from.lanes;
    if (same_shape || pair(to, from) || pair(from, to)) return gives(to);
    return wrong("cannot bitcast " + type_name(from) + " to " + type_name(to),
                 "Fix: bitcast among i32 u32 f32, among i64 u64 f64 (as wide), between u32 and "
                 "f16x2, or between u64 and u32x2");
}

Typing construct(Type to, const Operands& given, bool splat) {
    const std::span<const Type> got = given.types;
    if (to.scalar() || !value_type(to))
        return wrong("`" + type_name(to) + "` is not a vector type of values",
                     "Fix: use a vector type such as f32x4");
    for (std::size_t k = 0; k < got.size(); ++k)
        if (got[k] != to.component())
            return wrong(
                "`" + type_name(to) + "` is " + (splat ? "filled with one " : "built from ") +
                    type_name(to.component()) + (splat ? "" : " values") + ", got " + list(got),
                conversion_fix(given.code, given.id(k), got[k], to.component()));
    return gives(to);
}

Typing select(const Operands& given) {
    const std::span<const Type> got = given.types;
    if (got[2].boolean() && got[0] == got[1] && !(got[0].boolean() && got[0] == got[2]))
        return wrong("the condition of `select` comes first, got " + list(got),
                     "Fix: write `select(condition, if_true, if_false)`, the reverse of WGSL's "
                     "order");
    if (got[1] != got[2])
        return wrong("`select` chooses between values of one type, got " + list(got.subspan(1)),
                     agreement_fix(given.code, given.ids.subspan(given.ids.empty() ? 0 : 1),
                                   got.subspan(1)));
    if (!value_type(got[1]))
        return wrong("`select` cannot choose between values of type " + type_name(got[1]),
                     "Fix: choose between numbers, bool or vectors of them");
    if (!got[0].boolean() || !(got[0].scalar() || got[0].lanes == got[1].lanes))
        return wrong("the condition of `select` is " + type_name(got[0]) +
                         ", not bool or a bool vector as wide as the values",
                     "Fix: the order is select(condition, if_true, if_false)");
    return gives(got[1]);
}

Typing call(const Function& f, const Operands& given) {
    const std::span<const Type> got = given.types;
    if (got.size() != f.arguments)
        return wrong("`" + f.name + "` takes " + std::to_string(f.arguments) + " arguments, got " +
                         std::to_string(got.size()),
                     "Fix: pass one value for each argument");
    for (std::uint32_t i = 0; i < f.arguments; ++i)
        if (const Type want = f.code.locals[i].type; want != got[i] && !want.none())
            return wrong("argument " + std::to_string(i + 1) + " of `" + f.name + "` is " +
                             type_name(want) + ", got " + type_name(got[i]),
                         conversion_fix(given.code, given.id(i), got[i], want));
    return gives(f.type);
}

Typing atomic(const Program& program, const Expr& e, const Operands& given) {
    const std::span<const Type> got = given.types;
    const Buffer& buffer = program.buffers[e.imm];
    if (Typing index = check_index(buffer.name, got[0]); !index.ok()) return index;
    const Type t = buffer.type;
    const bool fits = t.scalar() && (t.integer() || (e.op == Op::ATOMIC_ADD && kMath.holds(t)));
    if (!fits)
        return wrong(quoted(e.op) + " does not work on " + type_name(t) + " elements of `" +
                         buffer.name + "`",
                     e.op == Op::ATOMIC_ADD
                         ? "Fix: use elements of type i32, u32, i64, u64, f32 or f64"
                         : "Fix: use elements of type i32, u32, i64 or u64");
    for (std::size_t k = 1; k < got.size(); ++k)
        if (got[k] != t)
            return wrong(quoted(e.op) + " on `" + buffer.name + "` takes " + type_name(t) +
                             " values, got " + type_name(got[k]),
                         conversion_fix(given.code, given.id(k), got[k], t));
    return gives(e.op == Op::ATOMIC_STORE ? Type{} : t);
}

Typing subgroup(Op op, std::span<const Type> got) {
    if (op == Op::SUBGROUP_ANY || op == Op::SUBGROUP_ALL || op == Op::SUBGROUP_BALLOT) {
        if (got[0] != kBool)
            return wrong(quoted(op) + " takes bool, got " + type_name(got[0]),
                         "Fix: write a condition such as `x != 0`");
        return gives(op == Op::SUBGROUP_BALLOT ? kU32.with_lanes(4) : kBool);
    }
    const bool ints = op == Op::SUBGROUP_AND || op == Op::SUBGROUP_OR || op == Op::SUBGROUP_XOR;
    const Type t = got[0];
    if (!t.scalar() || !(t.integer() || (!ints && kMath.holds(t))))
        return wrong(quoted(op) + " takes a scalar " +
                         (ints ? "integer" : "i32, u32, f32, i64, u64 or f64") + ", got " +
                         type_name(t),
                     "Fix: convert the value, or work on one component at a time");
    if (got.size() > 1 && got[1] != kU32)
        return wrong("the lane of " + quoted(op) + " is u32, got " + type_name(got[1]),
                     "Fix: write `u32(lane)`");
    return gives(t);
}

Typing array_local(const Code& code, const Expr& e) {
    if (code.locals[e.extra].form == Local::Form::Array) return gives({});
    return wrong("`" + local_name(code, e.extra) + "` is not an array",
                 "Fix: use the name alone, or declare it with `[count]`");
}

Typing derive_leaf(const Program& program, const Expr& e, const Operands& given) {
    const Code& code = given.code;
    const std::span<const Type> got = given.types;
    switch (e.op) {
        case Op::LITERAL: {
            const std::optional<Type> t = type_from_code(e.imm);
            if (!t || !t->scalar() || !value_type(*t))
                return wrong(
                    "a literal has a scalar type of values, not " + type_name(t.value_or(Type{})),
                    "Fix: write a scalar literal and convert or build from it");
            return gives(*t);
        }
        case Op::PARAM:
            return gives(program.params[e.imm].type);
        case Op::LOCAL:
            if (code.locals[e.extra].form == Local::Form::Array)
                return wrong("`" + local_name(code, e.extra) + "` is an array, not a value",
                             "Fix: read one element, as in `" + local_name(code, e.extra) + "[i]`");
            return gives(code.locals[e.extra].type);
        case Op::BUILTIN:
            switch (e.imm) {
#define WYE_BUILTIN_TYPE(name, index, text, lanes) \
    case index:                                    \
        return gives(kU32.with_lanes(lanes));
                WYE_BUILTINS(WYE_BUILTIN_TYPE)
#undef WYE_BUILTIN_TYPE
                default:
                    return wrong("there is no built-in value " + std::to_string(e.imm),
                                 "Fix: use a built-in value of this version");
            }
        case Op::LEN:
        case Op::LEN_TABLE:
            return gives(kU32);
        case Op::LEN64:
        case Op::LEN64_TABLE:
            return gives(kU64);
        case Op::LEN_ARRAY:
        case Op::LEN64_ARRAY: {
            Typing t = array_local(code, e);
            if (t.ok()) t.type = e.op == Op::LEN_ARRAY ? kU32 : kU64;
            return t;
        }
        case Op::LOAD:
            return element(program.buffers[e.imm].name, got[0],
                           program.buffers[e.imm].type.loaded());
        case Op::LOAD_TABLE:
            return element(program.tables[e.imm].name, got[0], program.tables[e.imm].type.loaded());
        case Op::LOAD_ARRAY: {
            Typing t = array_local(code, e);
            if (!t.ok()) return t;
            return element(local_name(code, e.extra), got[0], code.locals[e.extra].type);
        }
        case Op::CALL:
            return call(program.functions[e.imm], given);
        case Op::COMPONENT:
            if (got[0].lanes <= e.imm || got[0].scalar())
                return wrong("a value of type " + type_name(got[0]) + " has no component `." +
                                 std::string(1, "xyzw"[e.imm & 3U]) + "`",
                             "Fix: pick a component that the vector has");
            return gives(got[0].component());
        case Op::SELECT:
            return select(given);
        default:
            break;
    }
    const std::optional<Type> to = type_from_code(e.imm);
    if (!to)
        return wrong("there is no type with code " + std::to_string(e.imm),
                     "Fix: use a type of this version");
    switch (e.op) {
        case Op::CONSTRUCT:
            if (got.size() != to->lanes)
                return wrong("`" + type_name(*to) + "` is built from " + std::to_string(to->lanes) +
                                 " components, got " + std::to_string(got.size()),
                             "Fix: give one value, or one for each component");
            return construct(*to, given, false);
        case Op::SPLAT:
            return construct(*to, given, true);
        case Op::CONVERT:
            return convert(*to, got[0]);
        default:
            return bitcast(*to, got[0]);
    }
}

Typing derive_operator(const Operands& given) {
    const Op op = given.op;
    const std::span<const Type> got = given.types;
    switch (op) {
        case Op::NEG:
        case Op::ABS:
            return same_type(given, kSigned);
        case Op::NOT:
        case Op::REM:
        case Op::AND:
        case Op::OR:
        case Op::XOR:
        case Op::POPCOUNT:
        case Op::CLZ:
        case Op::CTZ:
        case Op::REVERSE_BITS:
        case Op::MUL_HI:
        case Op::ADD_SAT:
        case Op::SUB_SAT:
            return same_type(given, kInts);
        case Op::LOGICAL_NOT:
        case Op::LOGICAL_AND:
        case Op::LOGICAL_OR:
            return same_type(given, kBools);
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
            return same_type(given, kNumbers);
        case Op::SHL:
        case Op::SHR:
            return shift(given, kInts);
        case Op::ROTL:
        case Op::ROTR:
            return shift(given, kUnsigned);
        case Op::EQ:
        case Op::NE:
            return same_type(given, kAny, true);
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
            return same_type(given, kNumbers, true);
        case Op::SQRT:
        case Op::FMA:
        case Op::COPYSIGN:
        case Op::FLOOR:
        case Op::CEIL:
        case Op::TRUNC:
        case Op::ROUND:
            return same_type(given, kFloats);
        case Op::ISNAN:
        case Op::ISINF:
            return same_type(given, kFloats, true);
        case Op::ANY:
        case Op::ALL:
            if (!got[0].boolean() || got[0].scalar())
                return wrong(quoted(op) + " takes a bool vector, got " + type_name(got[0]),
                             got[0] == kBool ? "Fix: use the condition itself"
                                             : "Fix: compare first, as in `any(v != w)`");
            return gives(kBool);
        default:
            return wrong(quoted(op) + " is not an expression",
                         "Fix: use an operation of this version");
    }
}

}  // namespace

Typing derive_type(const Program& program, const Code& code, const Expr& expr,
                   std::span<const Type> operands) {
    const Op op = expr.op;
    const int arity = op_operands(op);
    if (arity >= 0 && operands.size() != static_cast<std::size_t>(arity))
        return wrong(quoted(op) + " takes " + std::to_string(arity) + " operands, got " +
                         std::to_string(operands.size()),
                     "Fix: give it as many operands as it takes");
    const Operands given{code, op,
                         expr.count == operands.size() && expr.count != 0
                             ? code.operands_of(expr)
                             : std::span<const ExprId>{},
                         operands};
    const auto group = static_cast<unsigned>(op) & 0xf00U;
    if (group == 0x100) return derive_leaf(program, expr, given);
    if (op_math_set(op) > program.math_set)
        return wrong(quoted(op) + " is a function of math set " + std::to_string(op_math_set(op)) +
                         ", and the program is of set " + std::to_string(program.math_set),
                     "Fix: build the program for that set: `math_set(2)`, in text `math 2;`");
    if (op_math(op)) return same_type(given, kMath);
    if (op_atomic(op)) return atomic(program, expr, given);
    if (op_subgroup(op)) return subgroup(op, operands);
    if (op == Op::WORKGROUP_UNIFORM_LOAD)
        return element(program.buffers[expr.imm].name, operands[0],
                       program.buffers[expr.imm].type.loaded());
    return derive_operator(given);
}

}  // namespace wye::ir
