// SPDX-License-Identifier: Apache-2.0
#include "generated.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "program/text/text.hpp"
#include "support/random_program.hpp"

namespace test {
namespace {

using namespace wye::ir;

class Chance {
  public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}
    std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
    bool one_in(std::uint32_t count) { return below(count) == 0; }
    std::uint64_t bits() { return random_(); }
    template <typename T, std::size_t N>
    const T& of(const T (&values)[N]) {
        return values[below(N)];
    }

  private:
    std::mt19937_64 random_;
};

class Scramble {
  public:
    Scramble(Program& program, Chance& chance) : program_(program), chance_(chance) {}

    void all() {
        program_.name = name();
        program_.workgroup = {1 + chance_.below(16), 1 + chance_.below(8), 1 + chance_.below(4)};
        program_.subgroup = chance_.one_in(4) ? 32 : 0;
        program_.adjustable = chance_.one_in(2);
        program_.math_set = 1 + chance_.below(WYE_PROGRAM_NEWEST_MATH_SET);
        for (Param& p : program_.params) p.type = value_type();
        for (Buffer& b : program_.buffers) buffer(b);
        for (Table& t : program_.tables) {
            t.type = {static_cast<Kind>(2 + chance_.below(7)), 1};
            for (std::uint64_t& bits : t.bits) bits = literal(t.type.kind);
        }
        program_.grid.kind = static_cast<std::uint8_t>(chance_.below(3));
        program_.grid.axes.clear();
        if (program_.grid.kind != WYE_GRID_NONE)
            for (std::uint32_t i = 1 + chance_.below(3); i-- > 0;)
                program_.grid.axes.push_back(size(2));
        for (Function& f : program_.functions) {
            f.type = value_type();
            code(f.code);
        }
        code(program_.main);
        for (std::uint32_t i = chance_.below(3); i-- > 0;)
            program_.variants.push_back({name(), name(), name(), bytes(chance_.below(20)), {}, {}});
        for (const std::uint32_t id : {0x80000000U, 0x80000002U + chance_.below(1000)})
            if (chance_.one_in(3)) program_.notes.push_back({id, bytes(chance_.below(9))});
    }

  private:
    std::string name() {
        std::string text;
        for (std::uint32_t i = 1 + chance_.below(9); i-- > 0;)
            text += static_cast<char>('a' + chance_.below(26));
        return text;
    }
    std::vector<std::byte> bytes(std::uint32_t count) {
        std::vector<std::byte> out(count);
        for (std::byte& b : out) b = static_cast<std::byte>(chance_.below(256));
        return out;
    }
    Type scalar_type() { return {static_cast<Kind>(1 + chance_.below(8)), 1}; }
    Type value_type() {
        return scalar_type().with_lanes(static_cast<std::uint8_t>(1 + chance_.below(4)));
    }
    std::uint64_t literal(Kind kind) {
        std::uint64_t bits = chance_.bits();
        if (kind == Kind::BOOL) return bits & 1U;
        const unsigned width = Type{kind, 1}.bits();
        if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
        return canonical_bits(kind, bits) ? bits : 0;
    }

    void buffer(Buffer& b) {
        b.name = name();
        b.role = static_cast<Role>(1 + chance_.below(6));
        b.type = {static_cast<Kind>(2 + chance_.below(12)),
                  static_cast<std::uint8_t>(1 + chance_.below(4))};
        b.live = chance_.one_in(3);
        b.unset = chance_.one_in(3);
        b.align = chance_.one_in(3) ? 64 : 0;
        b.hints = {};
        if (chance_.one_in(3)) {
            b.hints.coalesce = static_cast<std::uint8_t>(chance_.below(4));
            b.hints.prefer_align = chance_.one_in(2) ? 1U << chance_.below(21) : 0;
            b.hints.locality = static_cast<Locality>(chance_.below(3));
        }
        b.bytes.reset();
        if (chance_.one_in(4)) b.bytes = {{chance_.bits(), chance_.bits()}};
        b.count_kind = static_cast<Buffer::Count>(chance_.below(3));
        b.count = b.count_kind == Buffer::Count::Literal ? chance_.below(1000) : 0;
        b.size.clear();
        if (b.count_kind == Buffer::Count::Computed) b.size = size(3);
    }

    SizeExpr size(unsigned depth) {
        SizeExpr out;
        // The nodes are in prefix order. Each operation needs two more nodes.
        for (std::uint32_t wanted = 1; wanted > 0; --wanted) {
            SizeNode node;
            const std::uint32_t kind = out.size() > depth * 2 ? chance_.below(3) : chance_.below(7);
            if (kind == 1 && !program_.params.empty()) {
                node.op = WYE_SIZE_PARAM;
                node.index = static_cast<std::uint16_t>(chance_.below(program_.params.size()));
            } else if (kind == 2 && !program_.buffers.empty()) {
                node.op = WYE_SIZE_LEN;
                node.index = static_cast<std::uint16_t>(chance_.below(program_.buffers.size()));
            } else if (kind < 3) {
                node.op = WYE_SIZE_LITERAL;
                node.literal = chance_.bits();
            } else {
                node.op = static_cast<std::uint8_t>(WYE_SIZE_ADD + kind - 3);
                wanted += 2;
            }
            out.push_back(node);
        }
        return out;
    }

    void code(Code& c) {
        for (Expr& e : c.exprs) expression(e);
        for (Stmt& s : c.stmts) statement(s);
        for (Local& local : c.locals) {
            if (local.form == Local::Form::Argument) local.type = value_type();
            if (chance_.one_in(2)) local.name = name();
        }
    }

    // Changes the literal, name or type in a node. A node of an operation without these gets
    // another operation with the same number of operands.
    void expression(Expr& e) {
        static constexpr Op kPure[] = {
#define WYE_TEST_OP(name, code, text, operands) Op::name,
            WYE_OPERATORS(WYE_TEST_OP) WYE_MATH(WYE_TEST_OP)
#undef WYE_TEST_OP
        };
        static constexpr Op kEffects[] = {
#define WYE_TEST_OP(name, code, text, operands) Op::name,
            WYE_EFFECTS(WYE_TEST_OP)
#undef WYE_TEST_OP
        };
        switch (e.op) {
            case Op::LITERAL: {
                const Type type = scalar_type();
                e.imm = type.code();
                e.extra = literal(type.kind);
                return;
            }
            case Op::PARAM:
                e.imm = static_cast<std::uint16_t>(chance_.below(program_.params.size()));
                return;
            case Op::BUILTIN:
                e.imm = static_cast<std::uint16_t>(chance_.below(WYE_BUILTIN_COUNT));
                return;
            case Op::LOCAL:
                if (chance_.one_in(3)) e.op = chance_.one_in(2) ? Op::LEN_ARRAY : Op::LEN64_ARRAY;
                e.extra = chance_.below(e.extra + 1);
                return;
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
            case Op::LOAD_ARRAY:
                e.extra = chance_.below(e.extra + 1);
                return;
            case Op::LEN:
            case Op::LEN64:
            case Op::LOAD:
                e.imm = static_cast<std::uint16_t>(chance_.below(program_.buffers.size()));
                return;
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
            case Op::LOAD_TABLE:
                e.imm = static_cast<std::uint16_t>(chance_.below(program_.tables.size()));
                return;
            case Op::CALL:
                return;
            case Op::CONSTRUCT:
                e.imm = scalar_type().with_lanes(static_cast<std::uint8_t>(e.count)).code();
                return;
            case Op::SPLAT:
                e.imm = scalar_type()
                            .with_lanes(static_cast<std::uint8_t>(2 + chance_.below(3)))
                            .code();
                return;
            case Op::COMPONENT:
                e.imm = static_cast<std::uint16_t>(chance_.below(4));
                return;
            case Op::CONVERT:
            case Op::BITCAST:
                e.imm = value_type().code();
                return;
            default:
                break;
        }
        const bool named = op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD;
        const bool effect = op_effect(e.op);
        for (unsigned tries = 0; tries < 40; ++tries) {
            const Op op = effect ? chance_.of(kEffects) : chance_.of(kPure);
            const bool names = op_atomic(op) || op == Op::WORKGROUP_UNIFORM_LOAD;
            const bool plain = op != Op::CALL && op != Op::CONSTRUCT && op != Op::SPLAT &&
                               op != Op::COMPONENT && op != Op::CONVERT && op != Op::BITCAST &&
                               op != Op::LOAD && op != Op::LOAD_TABLE && op != Op::LOAD_ARRAY;
            if (!plain || names != named || op_operands(op) != static_cast<int>(e.count)) continue;
            e.op = op;
            break;
        }
        if (named) e.imm = static_cast<std::uint16_t>(chance_.below(program_.buffers.size()));
    }

    void statement(Stmt& s) {
        switch (s.op) {
            case Op::STORE:
                s.imm = static_cast<std::uint16_t>(chance_.below(program_.buffers.size()));
                break;
            case Op::ASSIGN_COMPONENT:
                s.imm = static_cast<std::uint16_t>(chance_.below(4));
                break;
            case Op::TRAP:
                s.imm = static_cast<std::uint16_t>(1 + chance_.below(65535));
                break;
            case Op::BARRIER:
                if (chance_.one_in(2)) s.op = Op::GRID_BARRIER;
                break;
            default:
                break;
        }
    }

    Program& program_;
    Chance& chance_;
};

void rename_locals(Code& code, Chance& chance) {
    static constexpr const char* kNames[] = {"", "i", "x", "b0", "p1", "if", "f0", "i_2", "v1"};
    for (Local& local : code.locals)
        if (chance.one_in(2)) local.name = chance.of(kNames);
}

}  // namespace

Program generated(std::uint64_t seed) {
    support::RandomProgramOptions options;
    options.traps = seed % 4 == 0;
    options.grid_barriers = seed % 5 == 2;
    options.math = seed % 3 == 1 ? 1 + static_cast<unsigned>(seed % 2) : 0;
    options.kept = seed % 7 == 3 && !options.traps;
    options.size = 4 + static_cast<unsigned>(seed % 10);
    const std::string text = support::random_program(seed, options).text;
    ParseResult parsed = parse(text);
    REQUIRE_MESSAGE(parsed.ok(), text);
    return std::move(parsed.program);
}

Program renamed(std::uint64_t seed) {
    static constexpr std::string_view kCodes[] = {"x", "a\"\"b\"\"\"", "\"\"", "line\nline\r\n\\",
                                                  "\xc3\xa9\"\"\"\""};
    Program out = generated(seed);
    Chance chance(seed);
    for (Function& f : out.functions) rename_locals(f.code, chance);
    rename_locals(out.main, chance);
    if (chance.one_in(3)) {
        Variant v;
        v.format = "cuda-c";
        v.entry = "k\\\"";
        if (chance.one_in(2)) v.filter = "cuda:*[cc>=9.0]";
        for (const char c : chance.of(kCodes)) v.bytes.push_back(static_cast<std::byte>(c));
        out.variants.push_back(std::move(v));
    }
    return out;
}

Program scrambled(std::uint64_t seed) {
    Program out = generated(seed);
    Chance chance(seed);
    Scramble(out, chance).all();
    return out;
}

}  // namespace test
