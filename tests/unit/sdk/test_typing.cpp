// SPDX-License-Identifier: Apache-2.0
// The typing rules as a table, which follows the language's tables of operations.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "wye/sdk/typing.hpp"

namespace test_typing {

using namespace wye::ir;

namespace {

// A program with one of everything that a node can name.
struct World {
    Program program;
    Code code;
    World() {
        const auto buffer = [&](const char* name, Role role, const char* type) {
            Buffer b;
            b.name = name;
            b.role = role;
            b.type = *type_from_name(type);
            b.binding = static_cast<std::uint32_t>(program.buffers.size());
            program.buffers.push_back(b);
        };
        buffer("u", Role::INPUT_OUTPUT, "u32");    // 0
        buffer("b", Role::INPUT, "u8x3");          // 1
        buffer("h", Role::INPUT_OUTPUT, "bf16");   // 2
        buffer("f", Role::INPUT_OUTPUT, "f32");    // 3
        buffer("l", Role::INPUT_OUTPUT, "i64");    // 4
        buffer("d", Role::INPUT_OUTPUT, "f64");    // 5
        buffer("v", Role::INPUT_OUTPUT, "u32x2");  // 6
        buffer("s", Role::SHARED, "i32");          // 7
        buffer("c", Role::INPUT_OUTPUT, "u8");     // 8
        buffer("q", Role::INPUT_OUTPUT, "f16");    // 9
        program.params = {{"p", kF64, {}}};
        program.tables = {{"t", kF32, {0}, {}}};
        Function f;
        f.name = "g";
        f.type = kF32;
        f.arguments = 2;
        f.code.locals.resize(2);
        f.code.locals[0].type = kU32;
        f.code.locals[1].type = Type{Kind::F32, 2};
        program.functions.push_back(f);
        code.locals.resize(2);
        code.locals[0].form = Local::Form::Let;
        code.locals[0].type = kI64;
        code.locals[1].form = Local::Form::Array;
        code.locals[1].type = Type{Kind::F32, 4};
        code.locals[1].count = 8;
    }
};

struct Row {
    Op op;
    const char* imm;       // a type's name, or a number, or ""
    const char* operands;  // type names
    const char* result;    // a type's name; "none": fine, no result; "": refused
    std::uint64_t extra = 0;
};

std::vector<Type> types(const char* names) {
    std::vector<Type> out;
    std::istringstream in(names);
    for (std::string name; in >> name;) out.push_back(type_from_name(name).value());
    return out;
}

void check(const Row& row) {
    const World world;
    Expr e;
    e.op = row.op;
    e.extra = row.extra;
    if (const auto type = type_from_name(row.imm))
        e.imm = type->code();
    else if (*row.imm != 0)
        e.imm = static_cast<std::uint16_t>(std::stoul(row.imm));
    const Typing typing = derive_type(world.program, world.code, e, types(row.operands));
    CAPTURE(op_text(row.op));
    CAPTURE(row.imm);
    CAPTURE(row.operands);
    if (std::string(row.result).empty()) {
        CHECK_FALSE(typing.ok());
        CHECK(typing.fix.rfind("Fix: ", 0) == 0);
        CHECK(typing.type.none());
        CHECK(typing.problem.find('\n') == std::string::npos);
    } else {
        CHECK_MESSAGE(typing.ok(), typing.problem);
        CHECK(type_name(typing.type) == row.result);
    }
}

// The operators, and the kinds of values that they take at every width.
struct Operator {
    Op op;
    int operands;
    const char* kinds;  // the kinds that the operator takes
    bool boolean;       // the result is bool, with as many lanes
};
const char* const kInts = "i32 u32 i64 u64";
const char* const kFloats = "f16 f32 f64";
const char* const kNumbers = "i32 u32 i64 u64 f16 f32 f64";
const Operator kOperators[] = {{Op::NEG, 1, "i32 i64 f16 f32 f64", false},
                               {Op::NOT, 1, kInts, false},
                               {Op::LOGICAL_NOT, 1, "bool", false},
                               {Op::ADD, 2, kNumbers, false},
                               {Op::SUB, 2, kNumbers, false},
                               {Op::MUL, 2, kNumbers, false},
                               {Op::DIV, 2, kNumbers, false},
                               {Op::REM, 2, kInts, false},
                               {Op::AND, 2, kInts, false},
                               {Op::OR, 2, kInts, false},
                               {Op::XOR, 2, kInts, false},
                               {Op::LOGICAL_AND, 2, "bool", false},
                               {Op::LOGICAL_OR, 2, "bool", false},
                               {Op::EQ, 2, "bool i32 u32 i64 u64 f16 f32 f64", true},
                               {Op::NE, 2, "bool i32 u32 i64 u64 f16 f32 f64", true},
                               {Op::LT, 2, kNumbers, true},
                               {Op::LE, 2, kNumbers, true},
                               {Op::GT, 2, kNumbers, true},
                               {Op::GE, 2, kNumbers, true},
                               {Op::POPCOUNT, 1, kInts, false},
                               {Op::CLZ, 1, kInts, false},
                               {Op::CTZ, 1, kInts, false},
                               {Op::REVERSE_BITS, 1, kInts, false},
                               {Op::MUL_HI, 2, kInts, false},
                               {Op::ADD_SAT, 2, kInts, false},
                               {Op::SUB_SAT, 2, kInts, false},
                               {Op::ABS, 1, "i32 i64 f16 f32 f64", false},
                               {Op::MIN, 2, kNumbers, false},
                               {Op::MAX, 2, kNumbers, false},
                               {Op::CLAMP, 3, kNumbers, false},
                               {Op::SQRT, 1, kFloats, false},
                               {Op::FMA, 3, kFloats, false},
                               {Op::COPYSIGN, 2, kFloats, false},
                               {Op::FLOOR, 1, kFloats, false},
                               {Op::CEIL, 1, kFloats, false},
                               {Op::TRUNC, 1, kFloats, false},
                               {Op::ROUND, 1, kFloats, false},
                               {Op::ISNAN, 1, kFloats, true},
                               {Op::ISINF, 1, kFloats, true},
#define WYE_MATH_ROW(name, code, text, operands) {Op::name, operands, "f32 f64", false},
                               WYE_MATH(WYE_MATH_ROW)
#undef WYE_MATH_ROW
};

}  // namespace

TEST_CASE("operators take the kinds of the language's table, at every width") {
    World world;
    std::set<Op> covered = {Op::SHL, Op::SHR, Op::ROTL, Op::ROTR, Op::ANY, Op::ALL};
    for (const Operator& o : kOperators) {
        covered.insert(o.op);
        world.program.math_set = op_math_set(o.op);
        const std::vector<Type> taken = types(o.kinds);
        for (const Type kind : types("bool i32 u32 i64 u64 f16 f32 f64")) {
            const bool fits = std::find(taken.begin(), taken.end(), kind) != taken.end();
            for (std::uint8_t lanes = 1; lanes <= 4; ++lanes) {
                const Type type = kind.with_lanes(lanes);
                CAPTURE(op_text(o.op));
                CAPTURE(type_name(type));
                Expr e;
                e.op = o.op;
                std::vector<Type> operands(static_cast<std::size_t>(o.operands), type);
                const Typing typing = derive_type(world.program, world.code, e, operands);
                CHECK(typing.ok() == fits);
                if (fits) CHECK(typing.type == (o.boolean ? Type{Kind::BOOL, lanes} : type));
                if (o.operands < 2) continue;
                // Operands of two different types are refused.
                operands.back() = type.with_lanes(lanes == 1 ? 2 : 1);
                CHECK_FALSE(derive_type(world.program, world.code, e, operands).ok());
                operands.back() = kind == kF32 ? kF64 : kF32;
                CHECK_FALSE(derive_type(world.program, world.code, e, operands).ok());
            }
        }
    }
#define WYE_COVERED(name, code, text, operands) CHECK(covered.count(Op::name) == 1);
    WYE_OPERATORS(WYE_COVERED)
    WYE_MATH(WYE_COVERED)
#undef WYE_COVERED
}

TEST_CASE("a function of math set 2 has a type in programs of that set only") {
    World world;
    Expr e;
    for (const Op op : {Op::EXPM1, Op::LOG1P, Op::SINPI, Op::COSPI}) {
        e.op = op;
        world.program.math_set = 1;
        const Typing typing = derive_type(world.program, world.code, e, types("f32"));
        CHECK(typing.problem.find("of math set 2, and the program is of set 1") !=
              std::string::npos);
        CHECK(typing.fix.find("`math 2;`") != std::string::npos);
        world.program.math_set = 2;
        CHECK(derive_type(world.program, world.code, e, types("f32")).ok());
    }
}

TEST_CASE("shifts, rotations, any and all") {
    const Row rows[] = {
        {Op::SHL, "", "i32 u32", "i32"},
        {Op::SHL, "", "u64 u32", "u64"},
        {Op::SHR, "", "i64x3 u32x3", "i64x3"},
        {Op::SHL, "", "i32 i32", ""},
        {Op::SHL, "", "u64 u64", ""},
        {Op::SHR, "", "u32x2 u32", ""},
        {Op::SHL, "", "f32 u32", ""},
        {Op::SHL, "", "bool u32", ""},
        {Op::ROTL, "", "u32 u32", "u32"},
        {Op::ROTR, "", "u64x4 u32x4", "u64x4"},
        {Op::ROTL, "", "i32 u32", ""},
        {Op::ROTR, "", "u64 u64", ""},
        {Op::ANY, "", "boolx2", "bool"},
        {Op::ALL, "", "boolx4", "bool"},
        {Op::ANY, "", "bool", ""},
        {Op::ALL, "", "u32x2", ""},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("leaves, memory and shapes") {
    const Row rows[] = {
        {Op::LITERAL, "bool", "", "bool"},
        {Op::LITERAL, "f16", "", "f16"},
        {Op::LITERAL, "u8", "", ""},
        {Op::LITERAL, "f32x2", "", ""},
        {Op::PARAM, "0", "", "f64"},
        {Op::LOCAL, "", "", "i64", 0},
        {Op::LOCAL, "", "", "", 1},
        {Op::BUILTIN, "0", "", "u32x3"},
        {Op::BUILTIN, "4", "", "u32x3"},
        {Op::BUILTIN, "5", "", "u32"},
        {Op::BUILTIN, "9", "", "u32"},
        {Op::LEN, "0", "", "u32"},
        {Op::LEN64, "0", "", "u64"},
        {Op::LEN_TABLE, "0", "", "u32"},
        {Op::LEN64_TABLE, "0", "", "u64"},
        {Op::LEN_ARRAY, "", "", "u32", 1},
        {Op::LEN64_ARRAY, "", "", "u64", 1},
        {Op::LEN_ARRAY, "", "", "", 0},
        {Op::LEN64_ARRAY, "", "", "", 0},
        {Op::LOAD, "0", "u32", "u32"},
        {Op::LOAD, "1", "i64", "u32x3"},
        {Op::LOAD, "2", "i32", "f32"},
        {Op::LOAD, "9", "u64", "f16"},
        {Op::LOAD, "0", "f32", ""},
        {Op::LOAD, "0", "u32x2", ""},
        {Op::LOAD, "0", "bool", ""},
        {Op::LOAD_TABLE, "0", "u32", "f32"},
        {Op::LOAD_TABLE, "0", "f64", ""},
        {Op::LOAD_ARRAY, "", "u64", "f32x4", 1},
        {Op::LOAD_ARRAY, "", "f32", "", 1},
        {Op::LOAD_ARRAY, "", "u32", "", 0},
        {Op::CALL, "0", "u32 f32x2", "f32"},
        {Op::CALL, "0", "u32", ""},
        {Op::CALL, "0", "u32 f32x2 u32", ""},
        {Op::CALL, "0", "i32 f32x2", ""},
        {Op::CONSTRUCT, "f32x3", "f32 f32 f32", "f32x3"},
        {Op::CONSTRUCT, "boolx2", "bool bool", "boolx2"},
        {Op::CONSTRUCT, "f32x3", "f32 f32", ""},
        {Op::CONSTRUCT, "f32x2", "f32 u32", ""},
        {Op::CONSTRUCT, "u8x2", "u32 u32", ""},
        {Op::SPLAT, "u64x4", "u64", "u64x4"},
        {Op::SPLAT, "u64x4", "u32", ""},
        {Op::SPLAT, "f32x2", "f32x2", ""},
        {Op::COMPONENT, "2", "f32x3", "f32"},
        {Op::COMPONENT, "0", "boolx2", "bool"},
        {Op::COMPONENT, "3", "f32x3", ""},
        {Op::COMPONENT, "0", "f32", ""},
        {Op::SELECT, "", "bool f32 f32", "f32"},
        {Op::SELECT, "", "bool u64x3 u64x3", "u64x3"},
        {Op::SELECT, "", "boolx3 u64x3 u64x3", "u64x3"},
        {Op::SELECT, "", "bool bool bool", "bool"},
        {Op::SELECT, "", "boolx2 u64x3 u64x3", ""},
        {Op::SELECT, "", "boolx2 f32 f32", ""},
        {Op::SELECT, "", "u32 f32 f32", ""},
        {Op::SELECT, "", "bool f32 f64", ""},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("conversions go between numbers as wide as each other, and from bool") {
    const std::vector<Type> kinds = types("bool i32 u32 i64 u64 f16 f32 f64");
    for (const Type to : kinds)
        for (const Type from : kinds)
            for (std::uint8_t a = 1; a <= 4; ++a)
                for (std::uint8_t b = 1; b <= 4; ++b) {
                    const bool fits = a == b && (to == from || to != kBool);
                    const std::string target = type_name(to.with_lanes(a));
                    const std::string source = type_name(from.with_lanes(b));
                    check(
                        {Op::CONVERT, target.c_str(), source.c_str(), fits ? target.c_str() : ""});
                }
    for (const char* storage : {"i8", "u8", "i16", "u16", "bf16", "u8x2"})
        check({Op::CONVERT, storage, "u32", ""});
}

TEST_CASE("bitcasts keep the bits") {
    // Allowed pairs, by hand; everything else is refused.
    std::set<std::pair<std::string, std::string>> allowed = {
        {"u32", "f16x2"}, {"f16x2", "u32"}, {"u64", "u32x2"}, {"u32x2", "u64"}};
    for (const std::string width : {"", "x2", "x3", "x4"}) {
        for (const std::string a : {"i32", "u32", "f32"})
            for (const std::string b : {"i32", "u32", "f32"})
                allowed.insert({a + width, b + width});
        for (const std::string a : {"i64", "u64", "f64"})
            for (const std::string b : {"i64", "u64", "f64"})
                allowed.insert({a + width, b + width});
    }
    for (const Type to : types("bool i32 u32 i64 u64 f16 f32 f64 u8 bf16"))
        for (const Type from : types("bool i32 u32 i64 u64 f16 f32 f64"))
            for (std::uint8_t a = 1; a <= 4; ++a)
                for (std::uint8_t b = 1; b <= 4; ++b) {
                    const std::string target = type_name(to.with_lanes(a));
                    const std::string source = type_name(from.with_lanes(b));
                    const bool fits = allowed.count({target, source}) == 1;
                    check(
                        {Op::BITCAST, target.c_str(), source.c_str(), fits ? target.c_str() : ""});
                }
}

TEST_CASE("effects") {
    const Row rows[] = {
        {Op::ATOMIC_LOAD, "0", "u32", "u32"},
        {Op::ATOMIC_LOAD, "4", "i64", "i64"},
        {Op::ATOMIC_LOAD, "0", "f32", ""},
        {Op::ATOMIC_LOAD, "3", "u32", ""},
        {Op::ATOMIC_STORE, "0", "u32 u32", "none"},
        {Op::ATOMIC_STORE, "0", "u32 i32", ""},
        {Op::ATOMIC_EXCHANGE, "7", "u32 i32", "i32"},
        {Op::ATOMIC_ADD, "0", "u32 u32", "u32"},
        {Op::ATOMIC_ADD, "3", "u32 f32", "f32"},
        {Op::ATOMIC_ADD, "5", "u32 f64", "f64"},
        {Op::ATOMIC_ADD, "9", "u32 f16", ""},
        {Op::ATOMIC_ADD, "6", "u32 u32x2", ""},
        {Op::ATOMIC_ADD, "8", "u32 u32", ""},
        {Op::ATOMIC_MIN, "0", "u32 u32", "u32"},
        {Op::ATOMIC_MIN, "3", "u32 f32", ""},
        {Op::ATOMIC_MAX, "4", "u32 i64", "i64"},
        {Op::ATOMIC_AND, "0", "u32 u32", "u32"},
        {Op::ATOMIC_OR, "0", "u32 u32", "u32"},
        {Op::ATOMIC_XOR, "0", "u32 u32x2", ""},
        {Op::ATOMIC_CAS, "0", "u32 u32 u32", "u32"},
        {Op::ATOMIC_CAS, "0", "u32 u32 i32", ""},
        {Op::SUBGROUP_BROADCAST, "", "f32 u32", "f32"},
        {Op::SUBGROUP_SHUFFLE, "", "u64 u32", "u64"},
        {Op::SUBGROUP_SHUFFLE, "", "u64 i32", ""},
        {Op::SUBGROUP_SHUFFLE_XOR, "", "f16 u32", ""},
        {Op::SUBGROUP_SHUFFLE_XOR, "", "f32x2 u32", ""},
        {Op::SUBGROUP_ANY, "", "bool", "bool"},
        {Op::SUBGROUP_ALL, "", "bool", "bool"},
        {Op::SUBGROUP_ALL, "", "boolx2", ""},
        {Op::SUBGROUP_BALLOT, "", "bool", "u32x4"},
        {Op::SUBGROUP_BALLOT, "", "u32", ""},
        {Op::SUBGROUP_ADD, "", "f64", "f64"},
        {Op::SUBGROUP_ADD, "", "bool", ""},
        {Op::SUBGROUP_MIN, "", "i64", "i64"},
        {Op::SUBGROUP_MAX, "", "f32", "f32"},
        {Op::SUBGROUP_INCLUSIVE_ADD, "", "u32", "u32"},
        {Op::SUBGROUP_EXCLUSIVE_ADD, "", "f16", ""},
        {Op::SUBGROUP_AND, "", "u32", "u32"},
        {Op::SUBGROUP_OR, "", "f32", ""},
        {Op::SUBGROUP_XOR, "", "i64", "i64"},
        {Op::WORKGROUP_UNIFORM_LOAD, "7", "u32", "i32"},
        {Op::WORKGROUP_UNIFORM_LOAD, "7", "f32", ""},
    };
    std::set<Op> covered;
    for (const Row& row : rows) {
        check(row);
        covered.insert(row.op);
    }
#define WYE_COVERED(name, code, text, operands) CHECK(covered.count(Op::name) == 1);
    WYE_EFFECTS(WYE_COVERED)
#undef WYE_COVERED
}

TEST_CASE("a wrong number of operands is refused, not read past") {
    const World world;
    for (const Op op : {Op::ADD, Op::SELECT, Op::LOAD, Op::ATOMIC_CAS, Op::SIN, Op::CONVERT}) {
        Expr e;
        e.op = op;
        CHECK_FALSE(derive_type(world.program, world.code, e, {}).ok());
        const std::vector<Type> many(7, kF32);
        CHECK_FALSE(derive_type(world.program, world.code, e, many).ok());
    }
}

}  // namespace test_typing
