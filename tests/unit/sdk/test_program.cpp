// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>

#include "wye/sdk/program.hpp"

using namespace wye::ir;

TEST_CASE("type names and codes go both ways") {
    struct Row {
        const char* name;
        std::uint32_t code;
        unsigned bytes;
        unsigned bits;
        const char* loaded;
    };
    // As in the language reference: the kind in the low byte, the number of lanes above.
    const Row rows[] = {
        {"bool", 0x0101, 0, 1, "bool"},     {"i32", 0x0102, 4, 32, "i32"},
        {"u32", 0x0103, 4, 32, "u32"},      {"i64", 0x0104, 8, 64, "i64"},
        {"u64", 0x0105, 8, 64, "u64"},      {"f16", 0x0106, 2, 16, "f16"},
        {"f32", 0x0107, 4, 32, "f32"},      {"f64", 0x0108, 8, 64, "f64"},
        {"i8", 0x0109, 1, 8, "i32"},        {"u8", 0x010a, 1, 8, "u32"},
        {"i16", 0x010b, 2, 16, "i32"},      {"u16", 0x010c, 2, 16, "u32"},
        {"bf16", 0x010d, 2, 16, "f32"},     {"f32x4", 0x0407, 16, 32, "f32x4"},
        {"boolx2", 0x0201, 0, 1, "boolx2"}, {"u8x3", 0x030a, 3, 8, "u32x3"},
        {"bf16x2", 0x020d, 4, 16, "f32x2"}, {"i64x3", 0x0304, 24, 64, "i64x3"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        const auto type = type_from_name(row.name);
        REQUIRE(type.has_value());
        CHECK(type->code() == row.code);
        CHECK(type_from_code(row.code) == type);
        CHECK(type_name(*type) == row.name);
        CHECK(type->bytes() == row.bytes);
        CHECK(type->bits() == row.bits);
        CHECK(type_name(type->loaded()) == row.loaded);
    }
    for (const char* bad :
         {"", "x", "f32x", "f32x1", "f32x5", "f32x44", "f33", "F32", "x4", "f32 "})
        CHECK_FALSE(type_from_name(bad).has_value());
    for (const std::uint32_t bad :
         {0U, 0x0007U, 0x0100U, 0x010eU, 0x0507U, 0x00010107U, 0xffffffffU})
        CHECK_FALSE(type_from_code(bad).has_value());
}

TEST_CASE("every opcode is known by its number, text and arity") {
    struct Row {
        std::uint32_t code;
        const char* text;
        int operands;
    };
    const Row rows[] = {{0x01, "let", 0},
                        {0x12, "trap", 0},
                        {0x100, "literal", 0},
                        {0x10d, "call", -1},
                        {0x10e, "construct", -1},
                        {0x113, "select", 3},
                        {0x203, "+", 2},
                        {0x22e, "fma", 3},
                        {0x237, "all", 1},
                        {0x310, "pow", 2},
                        {0x314, "erf", 1},
                        {0x315, "expm1", 1},
                        {0x318, "cospi", 1},
                        {0x409, "atomic_cas", 3},
                        {0x420, "subgroup_broadcast", 2},
                        {0x440, "workgroup_uniform_load", 1}};
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(op_known(row.code));
        CHECK(op_text(static_cast<Op>(row.code)) == row.text);
        CHECK(op_operands(static_cast<Op>(row.code)) == row.operands);
    }
    unsigned known = 0;
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
        if (op_known(code)) ++known;
        CHECK(op_known(code) == (op_text(static_cast<Op>(code)) != "?"));
    }
    CHECK(known == 18 + 20 + 45 + 25 + 25);  // as counted in program_format.h
    CHECK_FALSE(op_known(0x10201));
}

TEST_CASE("literals have one encoding") {
    CHECK(canonical_bits(Kind::BOOL, 1));
    CHECK_FALSE(canonical_bits(Kind::BOOL, 2));
    CHECK(canonical_bits(Kind::I32, 0xffffffffU));
    CHECK_FALSE(canonical_bits(Kind::I32, 0x100000000U));
    CHECK(canonical_bits(Kind::U64, ~0ULL));
    CHECK(canonical_bits(Kind::F16, 0x7c00));
    CHECK(canonical_bits(Kind::F16, 0xfc00));
    CHECK(canonical_bits(Kind::F16, 0x7e00));
    CHECK_FALSE(canonical_bits(Kind::F16, 0xfe00));
    CHECK_FALSE(canonical_bits(Kind::F16, 0x7c01));
    CHECK_FALSE(canonical_bits(Kind::F16, 0x10000));
    CHECK(canonical_bits(Kind::F32, 0xff800000U));
    CHECK(canonical_bits(Kind::F32, 0x7fc00000U));
    CHECK_FALSE(canonical_bits(Kind::F32, 0x7fc00001U));
    CHECK_FALSE(canonical_bits(Kind::F32, 0xffc00000U));
    CHECK_FALSE(canonical_bits(Kind::F32, 0x7f800001U));
    CHECK(canonical_bits(Kind::F64, 0x7ff8000000000000ULL));
    CHECK(canonical_bits(Kind::F64, 0x8000000000000000ULL));
    CHECK_FALSE(canonical_bits(Kind::F64, 0x7ff0000000000001ULL));
    CHECK_FALSE(canonical_bits(Kind::F64, 0xfff8000000000000ULL));
    CHECK_FALSE(canonical_bits(Kind::BF16, 0));
}

namespace {

Param param(const char* name, Type type) { return {name, type, {}}; }

}  // namespace

TEST_CASE("the parameter block is laid out as a C structure") {
    struct Mixed {
        float a;
        double b;
        std::uint32_t c;
        std::int32_t d;
        std::uint64_t e;
        std::uint32_t f;
    };
    const std::vector<Param> params = {param("a", kF32), param("b", kF64), param("c", kU32),
                                       param("d", kI32), param("e", kU64), param("f", kU32)};
    const ParamLayout layout = param_layout(params);
    const std::vector<std::uint32_t> expected = {offsetof(Mixed, a), offsetof(Mixed, b),
                                                 offsetof(Mixed, c), offsetof(Mixed, d),
                                                 offsetof(Mixed, e), offsetof(Mixed, f)};
    CHECK(layout.offsets == expected);
    CHECK(layout.size == sizeof(Mixed));

    struct Small {
        std::uint32_t a;
        float b;
        std::int32_t c;
    };
    const std::vector<Param> small = {param("a", kU32), param("b", kF32), param("c", kI32)};
    CHECK(param_layout(small).offsets ==
          std::vector<std::uint32_t>{offsetof(Small, a), offsetof(Small, b), offsetof(Small, c)});
    CHECK(param_layout(small).size == sizeof(Small));
    CHECK(param_layout({}).size == 0);
}

TEST_CASE("same_program looks at meaning, not at node order or names of locals") {
    // let v = 1u + 2u, with the nodes of the operands in either order.
    const auto make = [](bool swapped, const char* name) {
        Program p;
        p.name = "p";
        const auto literal = [](std::uint64_t bits) {
            Expr e;
            e.op = Op::LITERAL;
            e.imm = kU32.code();
            e.extra = bits;
            return e;
        };
        p.main.exprs =
            swapped ? std::vector{literal(2), literal(1)} : std::vector{literal(1), literal(2)};
        Expr add;
        add.op = Op::ADD;
        add.count = 2;
        p.main.operands = swapped ? std::vector<ExprId>{1, 0} : std::vector<ExprId>{0, 1};
        p.main.exprs.push_back(add);
        Stmt let;
        let.op = Op::LET;
        let.local = 0;
        let.args[0] = 2;
        p.main.stmts = {let};
        p.main.blocks = {{0}};
        p.main.root = 0;
        Local local;
        local.name = name;
        p.main.locals = {local};
        return p;
    };
    CHECK(same_program(make(false, "a"), make(true, "b")));
    Program other = make(false, "a");
    other.main.exprs[0].extra = 7;
    CHECK_FALSE(same_program(make(false, "a"), other));
    other = make(false, "a");
    other.adjustable = true;
    CHECK_FALSE(same_program(make(false, "a"), other));
}
