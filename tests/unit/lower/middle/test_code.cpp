// SPDX-License-Identifier: Apache-2.0
//
// Tests what the middle form decides about arrays, accesses, loops and zeros.
#include <doctest/doctest.h>

#include "lower/middle/code.hpp"
#include "programs.hpp"

using namespace wye;
using ir::Kind;
using lower::middle::Access;
using lower::middle::Array;
using lower::middle::CodeForm;
using lower::middle::kNoKey;
using lower::middle::ProgramForm;
using lower::middle::Space;
using lower::middle::Target;

namespace test_code {
namespace {

constexpr const char* kArrays = R"(wye 1; program arrays; workgroup 64;
input a: i8[]; input b: f16x4[]; input c: bf16x3[]; input_output d: f32x2[]; input_output e: i64[];
input_output sum: f64[1];
shared s: f16[10]; shared t: f32x3[4];
table f: f32[2] = { 1.0, inf_f32 };
main {
    var v: i32[5];
    v[0] = i32(a[0u]);
    s[0u] = b[0u].x; t[0u] = c[0u];
    d[0u] = d[1u]; e[0u] = e[1u];
    let old = atomic_add(sum[0u], f64(f[0u]));
}
)";

std::uint32_t named(const ir::Program& program, const std::string& name) {
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
        if (program.buffers[b].name == name) return b;
    FAIL("no buffer ", name);
    return 0;
}

}  // namespace

TEST_CASE("how arrays lie in memory") {
    const ir::Program program = valid_program(kArrays);
    const ProgramForm form(program, program.workgroup, Target{}, false);
    const auto array = [&](const char* name) { return form.buffer(named(program, name)); };
    CHECK(array("a").cell == Kind::I8);
    CHECK(array("a").narrow());
    CHECK(array("a").extends_sign());
    CHECK(array("b").cell == Kind::U16);
    CHECK(array("b").packed);
    CHECK(array("b").loaded == lower::middle::loaded(Kind::F16));
    CHECK(array("c").cell == Kind::U16);
    CHECK_FALSE(array("c").packed);
    CHECK(array("d").cell == Kind::F32);
    CHECK(array("d").stored == lower::middle::stored(Kind::F32));
    CHECK(array("d").element_bytes() == 8);
    CHECK(array("e").cell == Kind::U64);
    CHECK(array("e").stored == kNoKey);
    // `shared` holds an f16 as the f32 of the same value, so loads convert nothing. Hosts never see
    // `shared` memory, so stores do not make NaNs canonical.
    CHECK(array("s").cell == Kind::F32);
    CHECK(array("s").loaded == kNoKey);
    CHECK(array("t").stored == kNoKey);
    CHECK(form.shared_bytes() == 10 * 4 + 4 * 12);
    const CodeForm main(form, ir::kNone);
    for (std::uint32_t i = 0; i < main.code.locals.size(); ++i)
        if (main.code.locals[i].form == ir::Local::Form::Array) {
            CHECK(main.local_array(i).cell == Kind::U32);
            CHECK(main.local_array(i).components() == 5);
        }
}

TEST_CASE("floats that are stored as their bits") {
    const ir::Program program = valid_program(kArrays);
    const std::uint32_t sum = named(program, "sum");
    const auto of = [&](const Target& target) {
        return ProgramForm(program, program.workgroup, target, false);
    };
    Target target;
    CHECK(of(target).buffer(sum).cell == Kind::U64);
    CHECK(of(target).buffer(sum).as_bits());
    CHECK_FALSE(of(target).buffer(named(program, "d")).as_bits());
    target.casts_pointers = true;
    CHECK_FALSE(of(target).buffer(sum).as_bits());
    target = {};
    target.adds_f32 = true;
    CHECK(of(target).buffer(sum).as_bits());
    target.adds_f64 = true;
    CHECK_FALSE(of(target).buffer(sum).as_bits());

    target = {};
    CHECK(of(target).table(0).cell == Kind::F32);
    target.tables_of_bits = true;
    CHECK(of(target).table(0).cell == Kind::U32);
    target = {};
    target.quirks.set(lower::Quirk::PoclNanInTable);
    CHECK(of(target).table(0).as_bits());
}

TEST_CASE("how an access is made safe") {
    const ir::Program program = valid_program(R"(wye 1; program accesses; workgroup 64;
input x: u32[]; input_output y: u32[4]; input_output z: f32[];
main {
    let i = global_id.x;
    let j = i64(x[0u]) - 1i64;
    let a = x[j];
    if i < len(x) { y[x[i]] = 1u; }
    z[i] = 1.0;
    z[i] = z[1u] / z[2u];
    atomic_max(y[i], a);
    y[3u] = 1u;
}
)");
    const ProgramForm form(program, program.workgroup, Target{}, false);
    const CodeForm main(form, ir::kNone);
    std::vector<Access> loads, stores, atomics;
    for (ir::ExprId id = 0; id < main.code.exprs.size(); ++id) {
        if (main.code.exprs[id].op == ir::Op::LOAD) loads.push_back(main.access(id));
        if (ir::op_atomic(main.code.exprs[id].op)) atomics.push_back(main.access(id));
    }
    for (ir::StmtId id = 0; id < main.code.stmts.size(); ++id)
        if (main.code.stmts[id].op == ir::Op::STORE) stores.push_back(main.store(id));
    using Check = Access::Check;
    REQUIRE(loads.size() == 5);
    CHECK(loads[0].check == Check::Zero);
    CHECK(loads[0].length.outer == lower::middle::Outer::Length);
    CHECK(loads[1].kind == Kind::U64);  // x[j]
    CHECK(loads[1].length.outer == lower::middle::Outer::Length64);
    CHECK(loads[2].check == Check::None);  // x[i], after the test of i
    REQUIRE(stores.size() == 4);
    CHECK(stores[0].check == Check::Skip);
    CHECK(stores[0].length.bits == 4);
    CHECK(stores[1].stored() == kNoKey);  // a literal is no NaN
    CHECK(stores[2].stored() == lower::middle::stored(Kind::F32));
    CHECK(stores[3].check == Check::None);
    REQUIRE(atomics.size() == 1);
    CHECK(atomics[0].check == Check::Skip);
    CHECK(atomics[0].array.space == Space::Global);
}

TEST_CASE("the form of a counted loop") {
    using lower::middle::Loop;
    using Test = Loop::Test;
    const ir::Program program = valid_program(R"(wye 1; program loops; workgroup 64;
param n: u32; param t: u32; param m: i32; input x: f32[]; input row: u32[]; output y: f32[64];
main {
    var sum: f32 = 0.0;
    for i in 0u..64u { sum = sum + f32(i); }                       // 0
    for i in 0u..n step 0u { sum = sum + f32(i); }                 // 1
    let two = 2;
    for i in m..5 step two { sum = sum + f32(i); }                // 2
    for i in m..5 step -3 { sum = sum + f32(i); }                // 3
    for i in global_id.x..len(x) step t { sum = sum + x[i]; }      // 4
    for i in row[0u]..row[1u] { sum = sum + x[i]; }                // 5
    for i in 0u..4u { barrier; }                                   // 6
    y[local_index] = sum;
}
)");
    const auto loops = [&](const Target& target) {
        const ProgramForm form(program, program.workgroup, target, false);
        const CodeForm main(form, ir::kNone);
        std::vector<Loop> out;
        for (ir::StmtId id = 0; id < main.code.stmts.size(); ++id)
            if (main.code.stmts[id].op == ir::Op::FOR) out.push_back(main.loop(id));
        REQUIRE(out.size() == 7);
        return out;
    };
    Target target;
    auto found = loops(target);
    CHECK(found[0].test == Test::Counter);
    CHECK(found[0].step == 1);
    CHECK(found[1].step == 1);  // a step below 1 counts as 1
    CHECK(found[2].step == 2);  // the step is a let
    CHECK(found[2].test == Test::Counter);
    CHECK(found[3].step == 1);
    CHECK(found[4].step == 0);
    CHECK(found[4].test == Test::Rounds);  // the step may overflow
    for (const Loop& each : found) {
        CHECK(each.together == 1);
        CHECK(each.lengths.empty());
        CHECK(each.unroll == Loop::Unroll::Free);
    }

    // The target runs iterations in groups, which stop before the end of the shortest array.
    target.most_together = 4;
    target.most_together_nodes = 192;
    found = loops(target);
    CHECK(found[0].together == 1);  // no loads
    CHECK(found[4].together == 4);
    CHECK(found[4].test == Test::End);
    CHECK(found[5].together == 4);
    CHECK(found[5].test == Test::Counter);
    CHECK(found[5].lengths.accesses.size() == 1);
    CHECK_FALSE(found[5].twice());

    // A compiler that itself unrolls loops with a literal step.
    target.most_together = 8;
    target.unrolls_literal_steps = target.doubles_loops = true;
    target.most_together_nodes = 96;
    found = loops(target);
    CHECK(found[4].together == 8);
    CHECK(found[5].together == 1);
    CHECK(found[5].twice());
    target.workgroup_loops = true;
    CHECK(loops(target)[6].unroll == Loop::Unroll::Never);
}

TEST_CASE("zeros at the start of main") {
    const ir::Program program = valid_program(R"(wye 1; program zeros; workgroup 64;
input x: u32[]; output y: u32[64];
shared few: u32[100]; shared many: u32x3[200]; shared own: u32[64]; shared whole: u32[64];
shared none: u32[64];
main {
    let i = local_index;
    whole[i] = 1u;
    if i < 3u { own[i] = 1u; }
    barrier;
    let from = x[i] & 63u;
    y[i] = few[from] + many[from].x + own[from] + whole[from];
}
)");
    const ProgramForm form(program, program.workgroup, Target{}, false);
    std::vector<bool> used(program.buffers.size(), true);
    used[named(program, "none")] = false;
    const auto zeros = form.zeros(used);
    REQUIRE(zeros.arrays.size() == 3);  // `whole` is written before it is read
    CHECK(zeros.barrier);
    CHECK(zeros.arrays[0].array.number == named(program, "few"));
    CHECK(zeros.arrays[0].fill.stores == 2);
    CHECK(zeros.arrays[0].fill.rest == 36);
    CHECK(zeros.arrays[1].fill.stores == 0);  // 600 components: a loop
    CHECK(zeros.arrays[1].fill.stride == 64);
    CHECK(zeros.arrays[1].fill.count == 600);
    CHECK(zeros.arrays[2].start.how == lower::SharedStart::How::Own);
    CHECK(lower::middle::fill_of(512, 64).stores == 8);
    CHECK(lower::middle::fill_of(512, 64).rest == 0);
    CHECK(lower::middle::fill_of(513, 64).stores == 0);
    CHECK(lower::middle::fill_of(3, 64).stores == 1);
    CHECK(lower::middle::fill_of(3, 64).rest == 3);

    // One invocation runs the workgroup: it zeroes everything, without a barrier.
    Target target;
    target.workgroup_loops = true;
    target.quirks.set(lower::Quirk::PoclBarriers);
    const ProgramForm whole(program, program.workgroup, target, false);
    CHECK(whole.whole_workgroups);
    const auto alone = whole.zeros(used);
    REQUIRE(alone.arrays.size() == 3);
    CHECK_FALSE(alone.barrier);
    for (const auto& each : alone.arrays) {
        CHECK(each.start.how == lower::SharedStart::How::Fill);
        CHECK(each.fill.stride == 1);
    }
}

TEST_CASE("one invocation runs a workgroup that waits only until `shared` is zeroed") {
    const ir::Program waits = valid_program(R"(wye 1; program counts; workgroup 64;
output y: u32[64]; shared count: u32[1];
main { y[local_index] = atomic_add(count[0], 1u); }
)");
    const ir::Program alone = valid_program(R"(wye 1; program alone; workgroup 64;
output y: u32[64]; shared own: u32[64] unset;
main { own[local_index] = 1u; y[local_index] = own[local_index]; }
)");
    Target target;
    target.workgroup_loops = true;
    target.quirks.set(lower::Quirk::PoclBarriers);
    const std::vector<bool> used(2, true);
    const ProgramForm whole(waits, waits.workgroup, target, false);
    CHECK(whole.whole_workgroups);
    CHECK_FALSE(whole.zeros(used).barrier);
    CHECK_FALSE(ProgramForm(alone, alone.workgroup, target, false).whole_workgroups);
    CHECK_FALSE(ProgramForm(waits, {1, 1, 1}, target, false).whole_workgroups);
    target.workgroup_loops = false;
    CHECK(ProgramForm(waits, waits.workgroup, target, false).zeros(used).barrier);
}

}  // namespace test_code
