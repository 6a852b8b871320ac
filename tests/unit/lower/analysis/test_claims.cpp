// SPDX-License-Identifier: Apache-2.0
//
// Runs random programs on the oracle, which checks what the range analysis claims about each
// access, with and without the preconditions of check-free launches. The programs are of two kinds:
// small programs whose indices and guards are near the ends of tiny arrays, and the programs of the
// differential tests.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "lower/analysis/ranges.hpp"
#include "oracle/oracle.hpp"
#include "program/wire/encode.hpp"
#include "programs.hpp"
#include "support/random.hpp"
#include "support/random_expression.hpp"
#include "support/random_program.hpp"
#include "support/sanitized.hpp"
#include "support/slice.hpp"

namespace test_claims {

using namespace wye;
using ir::Op;

namespace {

// Lists the claims of the analysis in the order of the wire form.
class Claims {
  public:
    Claims(const ir::Program& program, const lower::Ranges& ranges) {
        for (std::uint32_t f = 0; f < program.functions.size(); ++f)
            code(program.functions[f].code, ranges.of(f));
        code(program.main, ranges.of(ir::kNone));
    }
    std::vector<bool> list;
    std::size_t proven = 0;  // number of accesses that are proven

  private:
    void code(const ir::Code& code, const lower::CodeRanges& claims) {
        code_ = &code;
        claims_ = &claims;
        block(code.root);
        if (code.result != ir::kNone) node(code.result);
    }
    void block(ir::BlockId id) {
        if (id == ir::kNone) return;
        for (const ir::StmtId s : code_->blocks[id]) statement(s);
    }
    void statement(ir::StmtId id) {
        const ir::Stmt& s = code_->stmts[id];
        if (s.op == Op::STORE || s.op == Op::STORE_ARRAY) access(claims_->stores[id]);
        if (s.op == Op::FOR) list.push_back(claims_->plain_loops[id]);
        for (const ir::ExprId e : s.args)
            if (e != ir::kNone) node(e);
        block(s.body);
        block(s.otherwise);
    }
    void node(ir::ExprId id) {
        const ir::Expr& e = code_->exprs[id];
        if (e.op == Op::LOAD || e.op == Op::LOAD_TABLE || e.op == Op::LOAD_ARRAY ||
            e.op == Op::WORKGROUP_UNIFORM_LOAD || ir::op_atomic(e.op))
            access(claims_->accesses[id]);
        if (e.op == Op::SELECT) list.push_back(claims_->guarded[id]);
        for (const ir::ExprId operand : code_->operands_of(e)) node(operand);
    }
    void access(bool claim) {
        list.push_back(claim);
        proven += claim ? 1 : 0;
    }

    const ir::Code* code_ = nullptr;
    const lower::CodeRanges* claims_ = nullptr;
};

struct Launch {
    std::array<std::uint32_t, 3> groups{};
    std::vector<std::uint64_t> params;
    std::vector<std::vector<std::byte>> buffers;
};

struct Tally {
    std::size_t launches = 0, proven = 0, check_free = 0;
};

// Runs the program on the oracle with all claims that hold for this launch.
void run(const ir::Program& program, const Launch& launch, Tally& tally) {
    auto wire = ir::encode(program);
    REQUIRE(wire.ok());
    std::vector<std::uint64_t> lengths;
    std::size_t next = 0;
    for (const ir::Buffer& b : program.buffers)
        lengths.push_back(b.shared() ? b.count : launch.buffers[next++].size() / b.type.bytes());
    const lower::Ranges plain(program, program.workgroup);
    const bool holds =
        !plain.preconditions().empty() &&
        plain.preconditions().hold({launch.params, lengths, launch.groups, program.workgroup});
    const lower::Ranges ranges(program, program.workgroup, holds);
    Claims claims(program, ranges);
    oracle::Launch asked;
    asked.groups = launch.groups;
    asked.params = launch.params;
    asked.buffers = launch.buffers;
    asked.step_limit = 1U << 22U;
    asked.claims = claims.list;
    const oracle::Outcome outcome = oracle::run(*wire, asked);
    ++tally.launches;
    tally.proven += claims.proven;
    tally.check_free += holds ? 1 : 0;
    CHECK(outcome.error == "");
}

// ---- Small programs -----------------------------------------------------------------------------

using support::cat;
using Choices = std::vector<std::string>;

// Makes texts of programs whose indices and guards are near the ends of tiny arrays.
class Small {
  public:
    explicit Small(support::Random& random) : random_(random) {}

    std::string program() {
        return cat(
            {R"(wye 1; program small; workgroup 4, 2; param n: u32; param m: i32; param w: u64;
input x: u32[]; input_output y: u32[len(x)]; input_output z: u32[]; input b: u8[];
shared s: u32[11]; table t: u32[5] = { 0u, 4u, 7u, 2u, 9u };
fn pick(v: u32) -> u32 { return x[v]; }
fn half(v: u32) -> u32 { let h = v / 2u; return h; }
main {
var a = n; var l: u32[6];
)",
             block(6, 0), "}\n"});
    }

  private:
    const std::string& any(const Choices& choices) { return random_.pick(choices); }
    std::string small() { return std::to_string(random_.below(13)) + "u"; }
    std::string length() {
        static constexpr const char* kArrays[] = {"x", "x", "y", "z", "b", "s", "l", "t"};
        return cat({"len(", kArrays[random_.below(std::size(kArrays))], ")"});
    }

    std::string value(int depth) {
        switch (random_.below(depth <= 0 ? 4 : 16)) {
            case 0:
            case 1:
                return any(names_);
            case 2:
                return small();
            case 3:
                return length();
            case 4:
                return cat({any({"min", "max", "sub_sat", "add_sat"}), "(", value(depth - 1), ", ",
                            value(depth - 1), ")"});
            case 5:
                return cat({"clamp(", value(depth - 1), ", ", value(0), ", ", value(0), ")"});
            case 6:
                return cat({"select(", condition(depth - 1), ", ", value(depth - 1), ", ",
                            value(depth - 1), ")"});
            case 7:
                return load(depth - 1);
            case 8:
                return cat({any({"half(", "pick("}), value(depth - 1), ")"});
            case 9:
                return cat({"u32(", signed_value(depth - 1), ")"});
            case 10:
                return cat({"u32(u64(", value(depth - 1), ") ", any({"+", "-", "*", "/", "%"}), " ",
                            any({"w", "3u64", "u64(n)"}), ")"});
            default:
                return cat({"(", value(depth - 1), " ",
                            any({"+", "-", "*", "/", "%", "&", ">>", "<<", "|"}), " ",
                            random_.chance(50) ? small() : value(depth - 1), ")"});
        }
    }
    std::string signed_value(int depth) {
        switch (random_.below(depth <= 0 ? 3 : 6)) {
            case 0:
                return "m";
            case 1:
                return std::to_string(random_.below(9));
            case 2:
                return cat({"i32(", any(names_), ")"});
            case 3:
                return cat({"abs(", signed_value(depth - 1), ")"});
            default:
                return cat({"(", signed_value(depth - 1), " ", any({"+", "-", "*", "/", "%"}), " ",
                            signed_value(depth - 1), ")"});
        }
    }
    std::string load(int depth) {
        if (random_.chance(20)) return cat({any({"x", "y"}), "[", signed_value(depth), "]"});
        return cat({any({"x", "y", "z", "b", "s", "t", "l"}), "[", value(depth), "]"});
    }
    std::string condition(int depth) {
        switch (depth <= 0 ? 9 : random_.below(6)) {
            case 0:
                return cat(
                    {"(", condition(depth - 1), any({" && ", " || "}), condition(depth - 1), ")"});
            case 1:
                return cat({"!(", condition(depth - 1), ")"});
            case 2:
                return cat({signed_value(depth - 1), any({" < ", " >= ", " == "}),
                            signed_value(depth - 1)});
            default:
                return cat({value(depth > 1 ? 1 : 0),
                            any({" < ", " < ", " <= ", " > ", " >= ", " == ", " != "}),
                            random_.chance(60) ? length() : value(0)});
        }
    }
    std::string block(std::int64_t statements, int depth) {
        const std::size_t visible = names_.size();
        std::string out;
        for (; statements > 0; --statements) out += statement(depth);
        names_.resize(visible);
        return out;
    }
    std::string fresh() { return cat({"v", std::to_string(count_++)}); }
    std::string statement(int depth) {
        switch (random_.below(depth < 3 ? 12 : 6)) {
            case 0:
            case 1: {
                const std::string text = value(3), name = fresh();
                names_.push_back(name);
                return cat({"let ", name, " = ", text, ";\n"});
            }
            case 2:
                return cat({"a = ", value(2), ";\n"});
            case 3:
                return cat({any({"y", "z", "l"}), "[", value(2), "] = ", value(2), ";\n"});
            case 4:
                return cat({any({"y", "z"}), "[", signed_value(2), "] = ", value(1), ";\n"});
            case 5:
                return cat({"atomic_add(s[", value(2), "], 1u);\n"});
            case 6:
            case 7:
                return loop(depth);
            case 8:
                return cat({"if ", condition(2), " { return; }\n"});
            default: {
                std::string out = cat(
                    {"if ", condition(2), " {\n", block(random_.between(1, 3), depth + 1), "}"});
                if (random_.chance(40)) out += cat({" else {\n", block(2, depth + 1), "}"});
                return out + "\n";
            }
        }
    }
    // Makes a loop that ends after about 20 iterations at most, whatever its bounds are.
    std::string loop(int depth) {
        const std::string rounds = fresh(), name = fresh();
        std::string out =
            cat({"var ", rounds, " = 0u;\nfor ", name, " in ", random_.chance(60) ? "0u" : value(1),
                 " .. ", random_.chance(60) ? length() : value(1),
                 random_.chance(40) ? cat({" step ", value(1)}) : "", " {\n"});
        names_.push_back(name);
        out += cat({rounds, " = ", rounds, " + 1u; if ", rounds, " > 20u { break; }\n",
                    block(random_.between(1, 3), depth + 2), "}\n"});
        names_.pop_back();
        return out;
    }

    support::Random& random_;
    Choices names_ = {"global_id.x", "global_id.y", "local_index", "workgroup_id.x", "n", "a"};
    unsigned count_ = 0;
};

std::vector<std::byte> little_words(support::Random& random, std::uint64_t count) {
    std::vector<std::byte> out(static_cast<std::size_t>(count) * 4);
    for (std::size_t i = 0; i < out.size(); i += 4)
        out[i] = static_cast<std::byte>(random.below(12));
    return out;
}

Launch launch_of_small(support::Random& random) {
    Launch out;
    out.groups = {static_cast<std::uint32_t>(random.between(1, 3)),
                  static_cast<std::uint32_t>(random.between(1, 2)), 1};
    out.params = {
        random.chance(70) ? random.below(20) : support::random_scalar(random, WYE_KIND_U32),
        random.chance(70) ? random.below(20) : support::random_scalar(random, WYE_KIND_I32),
        support::random_scalar(random, WYE_KIND_U64)};
    const std::uint64_t x = random.below(26);
    out.buffers = {little_words(random, x), little_words(random, x),
                   little_words(random, random.below(26)),
                   support::random_bytes(random, static_cast<std::size_t>(random.below(9)))};
    return out;
}

constexpr std::size_t kParts = support::kSanitized ? 512 : 64;

}  // namespace

TEST_CASE("no claim of the range analysis is false, in small programs near the ends of arrays") {
    const support::Slice slice = support::Slice::of_this_run();
    constexpr std::size_t kPrograms = 64 * 2000;
    Tally tally;
    for (std::size_t seed = 0; seed < kPrograms; ++seed) {
        if (!slice.has(seed, kParts)) continue;
        support::Random random(seed);
        const std::string text = Small(random).program();
        CAPTURE(seed);
        CAPTURE(text);
        const ir::Program program = valid_program(text);
        for (int again = 0; again < 4; ++again) run(program, launch_of_small(random), tally);
    }
    std::printf("slice: claims of the range analysis, %s\n", slice.text(kParts).c_str());
    // If the analysis claimed nothing, or no launch fulfilled preconditions, nothing was tested.
    CHECK(tally.proven > tally.launches);
    CHECK(tally.check_free > tally.launches / 100);
}

TEST_CASE("no claim of the range analysis is false, in programs of the differential tests") {
    const support::Slice slice = support::Slice::of_this_run();
    constexpr std::size_t kPrograms = 64 * 100;
    Tally tally;
    for (std::size_t seed = 0; seed < kPrograms; ++seed) {
        if (!slice.has(seed, kParts)) continue;
        support::RandomProgramOptions options;
        options.grid_barriers = seed % 4 == 0;
        options.largest_group = 64;
        const support::RandomProgram made = support::random_program(seed, options);
        CAPTURE(seed);
        CAPTURE(made.text);
        Launch launch{made.groups, made.values, {}};
        for (const support::RandomBuffer& b : made.buffers) launch.buffers.push_back(b.before);
        run(valid_program(made.text), launch, tally);
    }
    CHECK(tally.proven > tally.launches);
}

TEST_CASE("the oracle finds each kind of false claim") {
    for (const char* body :
         {"y[n] = 1u;", "let q = x[n];", "let q = t[n];", "let q = l[n];", "l[n] = 1u;",
          "atomic_add(s[n], 1u);", "let q = workgroup_uniform_load(s[n]);", "let q = pick(n);",
          "for i in 4294967290u..4294967295u step 4u { }",
          "let q = select(n == 5u, x[n - 5u], x[n]);"}) {
        CAPTURE(std::string(body));
        const ir::Program program = valid_program(
            std::string("wye 1; program p; workgroup 4; param n: u32; input x: u32[4]; "
                        "input_output y: u32[4]; shared s: u32[4]; table t: u32[2] = { 1u, 2u };\n"
                        "fn pick(v: u32) -> u32 { return x[v]; }\nmain { var l: u32[4]; ") +
            body + " }");
        auto wire = ir::encode(program);
        REQUIRE(wire.ok());
        oracle::Launch launch;
        launch.groups = {1, 1, 1};
        launch.buffers.assign(2, std::vector<std::byte>(16));
        const std::size_t count =
            Claims(program, lower::Ranges(program, program.workgroup)).list.size();
        for (const bool claimed : {false, true}) {
            launch.claims.assign(count, claimed);
            // With n = 5, a select that is claimed to be a branch evaluates only x[0], which is in
            // range. The index 5 of x[n] is out of range, but not evaluated.
            const bool arm = std::string(body).find("select") != std::string::npos;
            launch.params = {arm ? 5U : 4U};
            const auto outcome = oracle::run(*wire, launch);
            CHECK((outcome.error.find("is false") != std::string::npos) == (claimed && !arm));
        }
    }
}

}  // namespace test_claims
