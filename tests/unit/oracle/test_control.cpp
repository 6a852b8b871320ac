// SPDX-License-Identifier: Apache-2.0
// Statements, memory, barriers, subgroups and refusals, on programs assembled by hand.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "assembler.hpp"
#include "oracle/oracle.hpp"

namespace test_control {

namespace {

namespace as = assembler;
using as::Words;

constexpr std::uint32_t kU32 = WYE_TYPE(WYE_KIND_U32, 1);
constexpr std::uint32_t kI32 = WYE_TYPE(WYE_KIND_I32, 1);

Words i32(std::int32_t v) { return as::op(WYE_OP_LITERAL, kI32, {static_cast<std::uint32_t>(v)}); }
Words binary(std::uint32_t op, const Words& a, const Words& b) { return as::op(op, 0, {}, {a, b}); }
Words add(const Words& a, const Words& b) { return binary(WYE_OP_ADD, a, b); }
Words lane() { return as::op(WYE_OP_BUILTIN, WYE_BUILTIN_LOCAL_INDEX); }
Words global() { return as::builtin(WYE_BUILTIN_GLOBAL_ID, 0); }
Words assign(std::uint32_t local, const Words& value) {
    return as::op(WYE_OP_ASSIGN, 0, {local}, {value});
}
Words effect(const Words& node) { return as::op(WYE_OP_EFFECT, 0, {}, {node}); }
Words when(const Words& condition, std::initializer_list<Words> yes,
           std::initializer_list<Words> no = {}) {
    return as::op(WYE_OP_IF, 0, {}, {condition, as::block(yes), as::block(no)});
}
Words loop(const Words& a, const Words& b, const Words& step, std::initializer_list<Words> body) {
    return as::op(WYE_OP_FOR, 0, {}, {a, b, step, as::block(body)});
}
Words barrier() { return as::op(WYE_OP_BARRIER); }

oracle::Outcome run(const as::Program& program, std::uint32_t groups,
                    const std::vector<Words>& buffers, std::uint32_t width = 32,
                    std::uint64_t steps = 1000000) {
    oracle::Launch launch;
    launch.groups = {groups, 1, 1};
    launch.subgroup_size = width;
    launch.step_limit = steps;
    launch.check_races = true;
    for (const Words& b : buffers) launch.buffers.push_back(as::to_bytes(b));
    return oracle::run(program.wire(), launch);
}

// The output of a program with one output of `count` words, no inputs, one workgroup.
Words output(as::Program& program, std::uint32_t width = 32) {
    const oracle::Outcome outcome = run(program, 1, {{}}, width);
    REQUIRE(outcome.error == "");
    return as::to_words(outcome.buffers[0]);
}

}  // namespace

TEST_CASE("for: bounds once, step at least 1, no overflow") {
    struct Row {
        std::int32_t a, b, step;
        std::uint32_t rounds;
        std::int32_t last;
    };
    const std::vector<Row> rows = {
        {0, 5, 1, 5, 4},
        {0, 5, 2, 3, 4},
        {5, 0, 1, 0, 0},
        {0, 3, 0, 3, 2},
        {0, 3, -7, 3, 2},
        {2147483640, 2147483647, 5, 2, 2147483645},
        {-2147483647, 2147483647, 2147483647, 2, 0},
        {-3, 0, 1, 3, -1},
    };
    for (const Row& r : rows) {
        CAPTURE(r.a);
        CAPTURE(r.step);
        as::Program program;
        program.buffer(WYE_ROLE_OUTPUT, kU32, 2);
        program.main({
            as::op(WYE_OP_VAR, 0, {}, {as::u32(0)}),  // local 0: rounds
            as::op(WYE_OP_VAR, 0, {}, {i32(0)}),      // local 1: last i
            loop(i32(r.a), i32(r.b), i32(r.step),     // local 2: i
                 {assign(0, add(as::local(0), as::u32(1))), assign(1, as::local(2))}),
            as::store(0, as::u32(0), as::local(0)),
            as::store(0, as::u32(1), as::op(WYE_OP_CONVERT, kU32, {}, {as::local(1)})),
        });
        CHECK(output(program) == Words{r.rounds, static_cast<std::uint32_t>(r.last)});
    }
}

TEST_CASE("break, continue, while, return") {
    as::Program program;
    program.buffer(WYE_ROLE_OUTPUT, kU32, 3);
    program.main({
        as::op(WYE_OP_VAR, 0, {}, {as::u32(0)}),   // local 0: the sum
        loop(as::u32(0), as::u32(10), as::u32(1),  // local 1: i; adds 0, 2, 4 and 6, and ends at 7
             {when(binary(WYE_OP_EQ, as::local(1), as::u32(7)), {as::op(WYE_OP_BREAK)}),
              when(binary(WYE_OP_EQ, binary(WYE_OP_REM, as::local(1), as::u32(2)), as::u32(1)),
                   {as::op(WYE_OP_CONTINUE)}),
              assign(0, add(as::local(0), as::local(1)))}),
        as::store(0, as::u32(0), as::local(0)),
        as::op(WYE_OP_VAR_ZERO, kU32),  // local 2: 3, doubled until above 100
        assign(2, as::u32(3)),
        as::op(WYE_OP_WHILE, 0, {},
               {binary(WYE_OP_LE, as::local(2), as::u32(100)),
                as::block({assign(2, add(as::local(2), as::local(2)))})}),
        as::store(0, as::u32(1), as::local(2)),
        when(binary(WYE_OP_GT, as::local(2), as::u32(5)), {as::op(WYE_OP_RETURN)}),
        as::store(0, as::u32(2), as::u32(1)),
    });
    CHECK(output(program) == Words{12, 192, 0});
}

TEST_CASE("var starts anew each time its declaration runs") {
    as::Program program;
    program.buffer(WYE_ROLE_OUTPUT, kU32, 2);
    program.main({loop(
        as::u32(0), as::u32(2), as::u32(1),    // local 0: i
        {as::op(WYE_OP_VAR_ARRAY, kU32, {2}),  // local 1: the array
         as::op(WYE_OP_STORE_ARRAY, 0, {1},
                {as::u32(1), add(as::op(WYE_OP_LOAD_ARRAY, 0, {1}, {as::u32(1)}), as::u32(5))}),
         as::op(WYE_OP_STORE_ARRAY, 0, {1}, {as::u32(9), as::u32(7)}),
         as::store(0, as::local(0),
                   add(as::op(WYE_OP_LOAD_ARRAY, 0, {1}, {as::u32(1)}),
                       as::op(WYE_OP_LOAD_ARRAY, 0, {1}, {i32(-1)})))})});
    CHECK(output(program) == Words{5, 5});
}

TEST_CASE("an index is evaluated before the effect, the store comes after it") {
    as::Program program;
    program.buffer(WYE_ROLE_INPUT_OUTPUT, kU32, 4);
    // b[b[0]] = atomic_add(b[0], 1): the index and the stored value are both the old value 2.
    program.main({as::store(0, as::load(0, as::u32(0)),
                            as::op(WYE_OP_ATOMIC_ADD, 0, {}, {as::u32(0), as::u32(1)}))});
    const oracle::Outcome outcome = run(program, 1, {{2, 0, 0, 0}});
    REQUIRE(outcome.error == "");
    CHECK(as::to_words(outcome.buffers[0]) == Words{3, 0, 2, 0});
}

TEST_CASE("indices out of range read zero and write nothing") {
    for (const std::int32_t index : {-1, 4, 2147483647, -2147483647 - 1}) {
        CAPTURE(index);
        as::Program program;
        program.buffer(WYE_ROLE_INPUT_OUTPUT, kU32).buffer(WYE_ROLE_OUTPUT, kU32, 2);
        program.main({as::store(0, i32(index), as::u32(9)),
                      as::store(1, as::u32(0), as::load(0, i32(index))),
                      as::let(as::op(WYE_OP_ATOMIC_ADD, 0, {}, {i32(index), as::u32(1)})),
                      as::store(1, as::u32(1), as::local(0))});
        const oracle::Outcome outcome = run(program, 1, {{1, 2, 3, 4}, {}});
        REQUIRE(outcome.error == "");
        CHECK(as::to_words(outcome.buffers[0]) == Words{1, 2, 3, 4});
        CHECK(as::to_words(outcome.buffers[1]) == Words{0, 0});
    }
    as::Program program;  // an empty buffer
    program.buffer(WYE_ROLE_INPUT, kU32).buffer(WYE_ROLE_OUTPUT, kU32, 2);
    program.main({as::store(1, as::u32(0), add(as::load(0, as::u32(0)), as::u32(7))),
                  as::store(1, as::u32(1), as::op(WYE_OP_LEN, 0))});
    const oracle::Outcome outcome = run(program, 1, {{}, {}});
    REQUIRE(outcome.error == "");
    CHECK(as::to_words(outcome.buffers[1]) == Words{7, 0});
}

TEST_CASE("storage types widen on load and keep the low bits on store") {
    struct Row {
        std::uint32_t kind;
        std::uint32_t stored;   // the element's bits, in the low bits of a word
        std::uint32_t loaded;   // as a u32, i32 or f32
        std::uint32_t written;  // the bits after the loaded value is stored
    };
    const std::vector<Row> rows = {
        {WYE_KIND_I8, 0x80, 0xffffff80, 0x80},       {WYE_KIND_U8, 0x80, 0x00000080, 0x80},
        {WYE_KIND_I16, 0x8001, 0xffff8001, 0x8001},  {WYE_KIND_U16, 0x8001, 0x00008001, 0x8001},
        {WYE_KIND_BF16, 0x3f80, 0x3f800000, 0x3f80}, {WYE_KIND_BF16, 0xff81, 0x7fc00000, 0x7fc0},
    };
    for (const Row& r : rows) {
        CAPTURE(r.kind);
        const std::size_t size = r.kind == WYE_KIND_I8 || r.kind == WYE_KIND_U8 ? 1 : 2;
        const std::uint32_t as_bits =
            r.kind == WYE_KIND_BF16 ? std::uint32_t{WYE_OP_BITCAST} : std::uint32_t{WYE_OP_CONVERT};
        as::Program program;
        program.buffer(WYE_ROLE_INPUT, WYE_TYPE(r.kind, 1), 1)
            .buffer(WYE_ROLE_OUTPUT, WYE_TYPE(r.kind, 1), 3)
            .buffer(WYE_ROLE_OUTPUT, kU32, 1);
        program.main(
            {as::store(1, as::u32(1), as::load(0, as::u32(0))),
             as::store(2, as::u32(0), as::op(as_bits, kU32, {}, {as::load(0, as::u32(0))}))});
        oracle::Launch launch;
        launch.groups = {1, 1, 1};
        std::vector<std::byte> in = as::to_bytes({r.stored});
        in.resize(size);
        launch.buffers = {in, {}, {}};
        const oracle::Outcome outcome = oracle::run(program.wire(), launch);
        REQUIRE(outcome.error == "");
        std::vector<std::byte> expected(3 * size);  // the other elements stay zero
        std::memcpy(expected.data() + size, &r.written, size);
        CHECK(outcome.buffers[1] == expected);
        CHECK(as::to_words(outcome.buffers[2]) == Words{r.loaded});
    }
}

TEST_CASE("barriers order a workgroup, shared starts at zero in each") {
    // Two workgroups of 4. Each invocation takes over the element of its neighbour.
    as::Program program({4, 1, 1});
    program.buffer(WYE_ROLE_SHARED, kU32, 4).buffer(WYE_ROLE_OUTPUT, kU32);
    const Words next = binary(WYE_OP_REM, add(lane(), as::u32(1)), as::u32(4));
    program.main({as::store(0, lane(), add(as::load(0, lane()), global())), barrier(),
                  as::let(as::load(0, next)), barrier(), as::store(0, lane(), as::local(0)),
                  as::store(1, global(), as::load(0, lane()))});
    const oracle::Outcome outcome = run(program, 2, {Words(8)});
    REQUIRE(outcome.error == "");
    CHECK(outcome.race == "");
    CHECK(as::to_words(outcome.buffers[0]) == Words{1, 2, 3, 0, 5, 6, 7, 4});
}

TEST_CASE("races are found, ordered accesses and atomics are none") {
    const Words neighbour = add(lane(), as::u32(1));
    struct Row {
        const char* what;
        std::vector<Words> body;
        bool race;
    };
    const std::vector<Row> rows = {
        {"own elements", {as::store(0, global(), as::u32(1))}, false},
        {"one element", {as::store(0, as::u32(0), as::u32(1))}, true},
        {"a neighbour's", {as::store(0, lane(), as::load(0, neighbour))}, true},
        {"reads only", {as::let(as::load(0, as::u32(0)))}, false},
        {"atomics only",
         {effect(as::op(WYE_OP_ATOMIC_ADD, 0, {}, {as::u32(0), as::u32(1)}))},
         false},
        {"an atomic and a read",
         {effect(as::op(WYE_OP_ATOMIC_ADD, 0, {}, {as::u32(0), as::u32(1)})),
          as::let(as::load(0, as::u32(0)))},
         true},
        {"across workgroups, with a barrier",
         {as::store(0, lane(), as::u32(1)), barrier(), as::let(as::load(0, lane()))},
         true},
    };
    for (const Row& r : rows) {
        CAPTURE(r.what);
        as::Program program({4, 1, 1});
        program.buffer(WYE_ROLE_INPUT_OUTPUT, kU32);
        if (r.body.size() == 1) program.main({r.body[0]});
        if (r.body.size() == 2) program.main({r.body[0], r.body[1]});
        if (r.body.size() == 3) program.main({r.body[0], r.body[1], r.body[2]});
        const oracle::Outcome outcome = run(program, 2, {Words(8)});
        REQUIRE(outcome.error == "");
        CHECK(outcome.race.empty() == !r.race);
    }
}

TEST_CASE("trap reports the largest code and the count, and ends only its invocation") {
    as::Program program({4, 1, 1});
    program.buffer(WYE_ROLE_OUTPUT, kU32, 4);
    program.main({when(binary(WYE_OP_EQ, lane(), as::u32(1)), {as::op(WYE_OP_TRAP, 7)}),
                  when(binary(WYE_OP_EQ, lane(), as::u32(2)), {as::op(WYE_OP_TRAP, 65535)}),
                  as::store(0, lane(), as::u32(1))});
    const oracle::Outcome outcome = run(program, 1, {{}});
    REQUIRE(outcome.error == "");
    CHECK(outcome.trap == oracle::Trap{65535, 2});
    CHECK(as::to_words(outcome.buffers[0]) == Words{1, 0, 0, 1});
}

TEST_CASE("functions have their own locals and may call earlier ones") {
    as::Program program;
    program.buffer(WYE_ROLE_OUTPUT, kU32, 1);
    // f0(x): the sum of 0..x. f1(x) = f0(x) + f0(2 x).
    program.function(kU32, {kU32},
                     as::block({as::op(WYE_OP_VAR, 0, {}, {as::u32(0)}),
                                loop(as::u32(0), as::local(0), as::u32(1),
                                     {assign(1, add(as::local(1), as::local(2)))})}),
                     as::local(1));
    program.function(kU32, {kU32}, as::block({}),
                     add(as::op(WYE_OP_CALL, 0, {}, {as::local(0)}),
                         as::op(WYE_OP_CALL, 0, {}, {add(as::local(0), as::local(0))})));
    program.main({as::store(0, as::u32(0), as::op(WYE_OP_CALL, 1, {}, {as::u32(5)}))});
    CHECK(output(program) == Words{10 + 45});
}

TEST_CASE("calls and expressions as deep as the limits allow") {
    as::Program program;
    program.buffer(WYE_ROLE_OUTPUT, kU32, 1);
    // Each function calls the function before, at the innermost place of a deep sum.
    constexpr unsigned kAdditions = WYE_LIMIT_EXPRESSION_DEPTH - 2;
    for (unsigned f = 0; f < WYE_LIMIT_FUNCTIONS; ++f) {
        Words sum = f == 0 ? as::local(0) : as::op(WYE_OP_CALL, f - 1, {}, {as::local(0)});
        for (unsigned n = 0; n < kAdditions; ++n) sum = add(sum, as::u32(1));
        program.function(kU32, {kU32}, as::block({}), sum);
    }
    program.main(
        {as::store(0, as::u32(0), as::op(WYE_OP_CALL, WYE_LIMIT_FUNCTIONS - 1, {}, {as::u32(5)}))});
    CHECK(output(program) == Words{5 + WYE_LIMIT_FUNCTIONS * kAdditions});
    program.function(kU32, {kU32}, as::block({}), as::local(0));
    CHECK(run(program, 1, {{}}).error == "too many functions");
}

TEST_CASE("subgroup operations") {
    const Words v = add(lane(), as::u32(1));  // 1..8, two subgroups of four
    struct Row {
        const char* what;
        Words effect;
        Words expected;
    };
    const Words even = binary(WYE_OP_EQ, binary(WYE_OP_REM, lane(), as::u32(2)), as::u32(0));
    const std::vector<Row> rows = {
        {"broadcast",
         as::op(WYE_OP_SUBGROUP_BROADCAST, 0, {}, {v, as::u32(6)}),
         {3, 3, 3, 3, 7, 7, 7, 7}},
        {"shuffle",
         as::op(WYE_OP_SUBGROUP_SHUFFLE, 0, {}, {v, add(lane(), as::u32(1))}),
         {2, 3, 4, 1, 6, 7, 8, 5}},
        {"shuffle_xor",
         as::op(WYE_OP_SUBGROUP_SHUFFLE_XOR, 0, {}, {v, as::u32(3)}),
         {4, 3, 2, 1, 8, 7, 6, 5}},
        {"add", as::op(WYE_OP_SUBGROUP_ADD, 0, {}, {v}), {10, 10, 10, 10, 26, 26, 26, 26}},
        {"min", as::op(WYE_OP_SUBGROUP_MIN, 0, {}, {v}), {1, 1, 1, 1, 5, 5, 5, 5}},
        {"max", as::op(WYE_OP_SUBGROUP_MAX, 0, {}, {v}), {4, 4, 4, 4, 8, 8, 8, 8}},
        {"and", as::op(WYE_OP_SUBGROUP_AND, 0, {}, {v}), {0, 0, 0, 0, 0, 0, 0, 0}},
        {"or", as::op(WYE_OP_SUBGROUP_OR, 0, {}, {v}), {7, 7, 7, 7, 15, 15, 15, 15}},
        {"xor", as::op(WYE_OP_SUBGROUP_XOR, 0, {}, {v}), {4, 4, 4, 4, 12, 12, 12, 12}},
        {"inclusive",
         as::op(WYE_OP_SUBGROUP_INCLUSIVE_ADD, 0, {}, {v}),
         {1, 3, 6, 10, 5, 11, 18, 26}},
        {"exclusive",
         as::op(WYE_OP_SUBGROUP_EXCLUSIVE_ADD, 0, {}, {v}),
         {0, 1, 3, 6, 0, 5, 11, 18}},
    };
    for (const Row& r : rows) {
        CAPTURE(r.what);
        as::Program program({8, 1, 1}, 4);
        program.buffer(WYE_ROLE_OUTPUT, kU32, 8);
        program.main({as::store(0, lane(), r.effect)});
        CHECK(output(program) == r.expected);
    }
    const std::vector<Row> votes = {
        {"any", as::op(WYE_OP_SUBGROUP_ANY, 0, {}, {even}), {1, 1, 1, 1, 1, 1, 1, 1}},
        {"all", as::op(WYE_OP_SUBGROUP_ALL, 0, {}, {even}), {0, 0, 0, 0, 0, 0, 0, 0}},
    };
    for (const Row& r : votes) {
        CAPTURE(r.what);
        as::Program program({8, 1, 1}, 4);
        program.buffer(WYE_ROLE_OUTPUT, kU32, 8);
        program.main({as::let(r.effect),
                      as::store(0, lane(), as::op(WYE_OP_CONVERT, kU32, {}, {as::local(0)}))});
        CHECK(output(program) == r.expected);
    }
    // Width 64: lanes 32 and up are in the second component.
    as::Program program({64, 1, 1});
    program.buffer(WYE_ROLE_OUTPUT, WYE_TYPE(WYE_KIND_U32, 4), 64);
    program.main({as::store(
        0, lane(),
        as::op(WYE_OP_SUBGROUP_BALLOT, 0, {}, {binary(WYE_OP_GE, lane(), as::u32(31))}))});
    Words expected;
    for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {0x80000000, 0xffffffff, 0, 0});
    CHECK(output(program, 64) == expected);
}

TEST_CASE("float sums of a subgroup have a fixed order") {
    // The sum is (2^24 + 1) + (1 + 1): first in pairs of lanes, then across the pairs.
    as::Program program({4, 1, 1}, 4);
    program.buffer(WYE_ROLE_INPUT, WYE_TYPE(WYE_KIND_F32, 1), 4)
        .buffer(WYE_ROLE_OUTPUT, WYE_TYPE(WYE_KIND_F32, 1), 4);
    program.main({as::store(1, lane(), as::op(WYE_OP_SUBGROUP_ADD, 0, {}, {as::load(0, lane())}))});
    const Words ones = {0x4b800000, 0x3f800000, 0x3f800000, 0x3f800000};
    const oracle::Outcome outcome = run(program, 1, {ones, {}});
    REQUIRE(outcome.error == "");
    // 2^24 + 1 rounds to 2^24; adding 2 gives 2^24 + 2. In lane order the sum would stay 2^24.
    CHECK(as::to_words(outcome.buffers[1]) == Words(4, 0x4b800001));
}

TEST_CASE("workgroup_uniform_load") {
    as::Program program({4, 1, 1});
    program.buffer(WYE_ROLE_SHARED, kU32, 1).buffer(WYE_ROLE_OUTPUT, kU32, 4);
    program.main(
        {when(binary(WYE_OP_EQ, lane(), as::u32(3)), {as::store(0, as::u32(0), as::u32(5))}),
         as::store(1, lane(), as::op(WYE_OP_WORKGROUP_UNIFORM_LOAD, 0, {}, {as::u32(0)}))});
    const oracle::Outcome outcome = run(program, 1, {{}});
    REQUIRE(outcome.error == "");
    CHECK(outcome.race == "");
    CHECK(as::to_words(outcome.buffers[0]) == Words{5, 5, 5, 5});
}

TEST_CASE("a grid barrier orders workgroups and clears shared") {
    as::Program program({2, 1, 1});
    program.buffer(WYE_ROLE_SHARED, kU32, 2)
        .buffer(WYE_ROLE_OUTPUT, kU32, 6)
        .buffer(WYE_ROLE_OUTPUT, kU32, 6);
    const Words mirror = binary(WYE_OP_SUB, as::u32(5), global());
    program.main({as::store(0, lane(), as::u32(9)), as::store(1, global(), global()),
                  as::op(WYE_OP_GRID_BARRIER),
                  as::store(2, global(), add(as::load(1, mirror), as::load(0, lane())))});
    const oracle::Outcome outcome = run(program, 3, {{}, {}});
    REQUIRE(outcome.error == "");
    CHECK(outcome.race == "");
    CHECK(as::to_words(outcome.buffers[1]) == Words{5, 4, 3, 2, 1, 0});
}

TEST_CASE("positions in a three-dimensional grid") {
    as::Program program({2, 1, 2});
    program.buffer(WYE_ROLE_OUTPUT, kU32, 2 * 3 * 4);
    // The row-major index of global_id in a grid of 2 x 3 x 4 invocations.
    const Words x = as::builtin(WYE_BUILTIN_GLOBAL_ID, 0);
    const Words y = as::builtin(WYE_BUILTIN_GLOBAL_ID, 1);
    const Words z = as::builtin(WYE_BUILTIN_GLOBAL_ID, 2);
    const Words number =
        add(x, binary(WYE_OP_MUL, as::u32(2), add(y, binary(WYE_OP_MUL, as::u32(3), z))));
    program.main({as::store(0, number, add(lane(), as::u32(100)))});
    oracle::Launch launch;
    launch.groups = {1, 3, 2};
    launch.buffers.emplace_back();
    const oracle::Outcome outcome = oracle::run(program.wire(), launch);
    REQUIRE(outcome.error == "");
    const Words got = as::to_words(outcome.buffers[0]);
    for (std::uint32_t i = 0; i < got.size(); ++i)  // local_index = x + 2 * (z % 2)
        CHECK(got[i] == 100 + i % 2 + 2 * (i / 6 % 2));
}

TEST_CASE("what cannot be evaluated is refused with a sentence") {
    as::Program endless;
    endless.main(
        {as::op(WYE_OP_WHILE, 0, {},
                {as::op(WYE_OP_LITERAL, WYE_TYPE(WYE_KIND_BOOL, 1), {1}), as::block({})})});
    CHECK(run(endless, 1, {}).error.find("step limit") != std::string::npos);

    as::Program divergent({4, 1, 1});
    divergent.main({when(binary(WYE_OP_EQ, lane(), as::u32(0)), {barrier()})});
    CHECK(run(divergent, 1, {}).error.find("barrier") != std::string::npos);

    as::Program ill_typed;
    ill_typed.buffer(WYE_ROLE_OUTPUT, kU32, 1);
    ill_typed.main({as::store(0, as::u32(0), add(as::u32(1), i32(1)))});
    CHECK(run(ill_typed, 1, {{}}).error != "");

    as::Program fine;
    fine.buffer(WYE_ROLE_INPUT, kU32, 2);
    fine.main({});
    CHECK(run(fine, 1, {{1, 2}}).error == "");
    CHECK(run(fine, 1, {{1}}).error.find("should have 2") != std::string::npos);
    CHECK(run(fine, 1, {}).error == "too few buffers");
    CHECK(run(fine, 1, {{1, 2}, {}}).error == "too many buffers");

    // A program that is cut anywhere is refused, and never read past its end.
    const std::vector<std::byte> wire = fine.wire();
    for (std::size_t n = 0; n < wire.size(); ++n) {
        const std::vector<std::byte> cut(wire.begin(), wire.begin() + static_cast<long>(n));
        CHECK(!oracle::run(cut, {}).ok());
    }
}

}  // namespace test_control
