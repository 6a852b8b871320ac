// SPDX-License-Identifier: Apache-2.0
// The builder and the text form are two ways to write the same bytes.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <set>

#include "oracle/oracle.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/builder.hpp"
#include "wye/sdk/typing.hpp"
#include "wye/sdk/wire.hpp"

namespace test_builder {

namespace {

namespace b = wye::builder;
using wye::builder::Body;
using wye::builder::Component;
using wye::builder::Expr;
using wye::builder::Kernel;

std::vector<std::byte> wire_of_text(const char* text) {
    const wye::ir::ParseResult parsed = wye::ir::parse(text);
    for (const auto& d : parsed.diagnostics) MESSAGE(wye::ir::render(d, "test", text));
    REQUIRE(parsed.ok());
    auto wire = wye::ir::encode(parsed.program);
    REQUIRE_MESSAGE(wire.ok(), (wire.ok() ? std::string() : wire.error().text()));
    return *wire;
}

void same(const std::vector<std::byte>& built, const char* text) {
    const auto read = wye::ir::decode(built);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().text()));
    const auto parsed = wire_of_text(text);
    if (built != parsed) {
        const auto other = wye::ir::decode(parsed);
        REQUIRE(other.ok());
        CHECK(wye::ir::print(*read) == wye::ir::print(*other));
    }
    CHECK(built == parsed);
}

Kernel saxpy() {
    Kernel k("saxpy");
    k.workgroup(256);
    auto a = k.param<float>("a");
    auto x = k.input("x", b::f32);
    auto y = k.input("y", b::f32, len(x));
    auto r = k.output("r", b::f32, len(x));
    k.grid_elements({len(x)});
    auto i = k.let("i", k.global_id().x());
    k.if_(i < len(r), [&] { k.store(r, i, a * x[i] + y[i]); });
    return k;
}

}  // namespace

TEST_CASE("saxpy, built and parsed") {
    same(saxpy().wire(), R"(
wye 1;  program saxpy;  workgroup 256;
param a: f32;
input x: f32[];   input y: f32[len(x)];   output r: f32[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) { r[i] = a * x[i] + y[i]; }
}
)");
}

TEST_CASE("what the builder wrote runs") {
    constexpr std::size_t kCount = 300;
    std::vector<float> x(kCount);
    std::vector<float> y(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        x[i] = static_cast<float>(i) * 0.25F;
        y[i] = 100.0F - static_cast<float>(i);
    }
    const auto bytes = [](const std::vector<float>& v) {
        const auto raw = std::as_bytes(std::span(v));
        return std::vector<std::byte>(raw.begin(), raw.end());
    };
    oracle::Launch launch;
    launch.params = {b::bits_of(1.5F)};
    launch.buffers = {bytes(x), bytes(y), {}};
    const oracle::Outcome outcome = oracle::run(saxpy().wire(), launch);
    REQUIRE_MESSAGE(outcome.ok(), outcome.error);
    std::vector<float> expected(kCount);
    for (std::size_t i = 0; i < kCount; ++i) expected[i] = 1.5F * x[i] + y[i];
    CHECK(outcome.buffers[2] == bytes(expected));
}

TEST_CASE("histogram, with a function, shared memory and atomics") {
    Kernel k("histogram");
    k.workgroup(64);
    k.grid_groups({128});
    auto data = k.input("data", b::u8);
    auto hist = k.output("hist", b::u32, 64);
    auto part = k.shared("part", b::u32, 64);
    auto bin = k.fn("bin", b::u32, {{"v", b::u32}}, [](Body&, Expr v) { return v >> 2U; });
    auto stride = k.let("stride", b::num_workgroups().x() * b::workgroup_size().x());
    k.for_("i", b::global_id().x(), len(data), stride,
           [&](Expr i) { k.run(b::atomic_add(part, bin(data[i]), 1U)); });
    k.barrier();
    auto n = k.let("n", part[b::local_index()]);
    k.if_(n != 0U, [&] { k.run(b::atomic_add(hist, b::local_index(), n)); });
    same(k.wire(), R"(
wye 1;  program histogram;  workgroup 64;  grid groups 128;
const BINS = 64;
input data: u8[];   output hist: u32[BINS];   shared part: u32[BINS];
fn bin(v: u32) -> u32 { return v >> 2u; }
main {
    let stride = num_workgroups.x * workgroup_size.x;
    for i in global_id.x..len(data) step stride { atomic_add(part[bin(data[i])], 1u); }
    barrier;
    let n = part[local_index];
    if n != 0u { atomic_add(hist[local_index], n); }
}
)");
}

TEST_CASE("declarations") {
    Kernel k("declarations");
    k.workgroup(8, 4, 2).adjustable().subgroup(32);
    auto n = k.param<std::uint32_t>("n");
    auto big = k.param<std::int64_t>("big");
    k.param<double>("unused");
    auto far = k.input_output("far", b::u32x2, {}, {.binding = 9, .align = 64});
    auto near = k.input("near", b::f32, (len(far) + 1) * n / 2 - big, {.binding = 3, .live = true});
    k.uniform("coeff", b::f32x4, 16, {.binding = 20});
    k.output("out", b::bf16x3, 6, {.bytes = {{6, 12}}, .unset = true});
    k.persistent("state", b::u64, {},
                 {.binding = 1,
                  .live = true,
                  .coalesce = b::Axis::y,
                  .prefer_align = 256,
                  .locality = b::Locality::streaming});
    k.input("kept", b::u32, {}, {.binding = 30, .locality = b::Locality::temporal});
    k.grid_elements({len(far), n, 7});
    const auto primes = k.table("PRIMES", {2, 3, 5, 7});
    k.table("EDGE", {0.5F, std::numeric_limits<float>::quiet_NaN()});
    const std::uint64_t halves[] = {0x3c00, 0x7c00};
    k.table("HALF", b::f16, halves);
    k.table("WIDE", {std::uint64_t{1} << 40});
    const auto code = std::as_bytes(std::span("PTX!", 4));
    k.variant("ptx", "entry", "cuda:*[cc>=9.0]", code);
    auto i = k.let("i", n + 1U);
    k.store(far, i, b::construct(b::u32x2, len(near), len(primes)));
    same(k.wire(), R"(
wye 1; program declarations; workgroup 8, 4, 2 adjustable; subgroup 32;
param n: u32; param big: i64; param unused: f64;
persistent state: u64[] binding 1 live coalesce y prefer_align 256 locality streaming;
input_output far: u32x2[] binding 9 align 64;
input near: f32[(len(far) + 1) * n / 2 - big] binding 3 live;
uniform coeff: f32x4[16] binding 20;
output out: bf16x3[6] bytes 6..12 unset;
input kept: u32[] binding 30 locality temporal;
grid elements len(far), n, 7;
table PRIMES: i32[4] = { 2, 3, 5, 7 };
table EDGE: f32[2] = { 0.5, nan_f32 };
table HALF: f16[2] = { 1.0f16, inf_f16 };
table WIDE: u64[1] = { 0x100_0000_0000u64 };
variant "ptx" entry "entry" for "cuda:*[cc>=9.0]" text """PTX!""";
main { let i = n + 1u; far[i] = u32x2(len(near), len(PRIMES)); }
)");
}

namespace {

// Uses every statement, leaf, operator, function and effect of the language.
Kernel everything() {
    using namespace wye::builder;
    Kernel k("everything");
    k.workgroup(64).subgroup(32).math_set(2);
    auto a = k.param<float>("a");
    auto u = k.input_output("u", u32);
    auto f = k.input_output("f", f32);
    auto h = k.input("h", f16);
    auto s = k.shared("s", i32, 64);
    auto t = k.table("T", {1U, 2U, 3U});
    auto one = k.fn("one", u32, {}, [](Body&) { return Expr(1U); });
    auto mixed = k.fn("mixed", f32, {{"v", u32}, {"w", f32}, {"z", f32x2}},
                      [](Body& f, Expr v, Expr w, Expr z) {
                          auto q = f.let("q", w * 2.0F);
                          auto r = f.var("r", q);
                          f.if_(
                              v == 0U, [&] { f.set(r, z.x()); }, [&] { f.set(r, z.y()); });
                          return r;
                      });
    k.variant("opencl-c", "everything", "", {});

    // Statements.
    auto i = k.let("i", global_id().x() + local_id().y() + workgroup_id().z());
    auto p = k.var("p", 5);
    auto z = k.var("z", f32x4);
    auto arr = k.array("arr", f32, 8);
    k.set(p, p + 1);
    k.set(z, Component::w, a);
    k.store(u, i, one());
    k.store(arr, i, mixed(i, a, construct(f32x2, a, 1.0F)));
    k.run(atomic_add(u, 0U, 1U));
    k.if_(
        i < len(u), [&] { k.set(p, 1); }, [&] { k.set(p, 2); });
    k.for_("j", 0U, 10U, 2U, [&](Expr j) {
        k.if_(j == 4U, [&] { k.continue_(); });
        k.if_(j == 8U, [&] { k.break_(); });
    });
    k.while_(p < 3, [&] { k.set(p, p + 1); });
    k.barrier();
    k.grid_barrier();

    // Leaves.
    k.let("l0", len64(u));
    k.let("l1", len(t) + len(arr));
    k.let("l2", len64(t) + len64(arr));
    k.let("l3", t[i]);
    k.let("l4", arr[i] + f[i]);
    auto v = k.let("v", splat(f32x4, a));
    k.let("l5", convert(i32x4, v));
    k.let("l6", bitcast(u32, a));
    k.let("l7", select(i < 3U, v.x(), z.w()));
    k.let("l8", num_workgroups() + workgroup_size());
    k.let("l9",
          local_index() + subgroup_size() + num_subgroups() + subgroup_id() + subgroup_lane());
    k.let("lits", construct(f64x3, 1.5, -2.5, std::numeric_limits<double>::infinity()));
    k.let("ints", convert(i64, -3) + -4LL - convert(i64, h[0U] < Expr::bits(f16, 0x3c00)));

    // Operators and functions.
    auto g = k.let("g", (i ^ (~i & 7U)) | 8U);
    k.let("o0", -a * a / a - a + a);
    k.let("o1", g % 7U << 2U >> 1U);
    k.let("o2", !((i > 1U && i >= 2U) || (i <= 3U && i != 4U)));
    k.let("o3", rotl(g, 3U) + rotr(g, 4U) + popcount(g) + clz(g) + ctz(g) + reverse_bits(g));
    k.let("o4", mul_hi(g, i) + add_sat(g, i) + sub_sat(g, i));
    k.let("o5", abs(a) + min(a, 1.0F) + max(a, 2.0F) + clamp(a, 0.0F, 1.0F));
    k.let("o6", sqrt(a) + fma(a, a, a) + copysign(a, -1.0F));
    k.let("o7", floor(a) + ceil(a) + trunc(a) + round(a));
    k.let("o8", isnan(a) || isinf(a) || any(v < z) || all(v == z));
    k.let("m0", exp(a) + exp2(a) + exp10(a) + log(a) + log2(a) + log10(a));
    k.let("m1", sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan(a) + atan2(a, a));
    k.let("m2",
          sinh(a) + cosh(a) + tanh(a) + pow(a, a) + rsqrt(a) + cbrt(a) + hypot(a, a) + erf(a));
    k.let("m3", expm1(a) + log1p(a) + sinpi(a) + cospi(a));

    // Effects.
    k.let("e0", atomic_load(u, i));
    k.run(atomic_store(u, i, 1U));
    k.let("e1", atomic_exchange(u, i, 1U));
    k.set(p, atomic_min(s, i, 1));
    k.set(z, Component::x, atomic_add(f, i, 1.0F));
    k.store(u, i, atomic_max(u, i, 1U));
    k.store(arr, i, atomic_add(f, i, a));
    k.var("e2", atomic_and(u, i, 1U));
    k.run(atomic_or(u, i, 1U));
    k.run(atomic_xor(u, i, 1U));
    k.run(atomic_cas(u, i, 1U, 2U));
    k.let("s0", subgroup_broadcast(a, 3U));
    k.let("s1", subgroup_shuffle(a, i));
    k.let("s2", subgroup_shuffle_xor(a, 1U));
    k.let("s3", subgroup_any(i < 3U));
    k.let("s4", subgroup_all(i < 3U));
    k.let("s5", subgroup_ballot(i < 3U));
    k.let("s6", subgroup_add(a));
    k.let("s7", subgroup_min(a));
    k.let("s8", subgroup_max(a));
    k.let("s9", subgroup_inclusive_add(i));
    k.let("s10", subgroup_exclusive_add(i));
    k.let("s11", subgroup_and(i));
    k.let("s12", subgroup_or(i));
    k.let("s13", subgroup_xor(i));
    k.let("s14", workgroup_uniform_load(s, 0U));
    k.if_(i == 9U, [&] { k.trap(65535); });
    k.return_();
    return k;
}

const char* const kEverything = R"(
wye 1; math 2; program everything; workgroup 64; subgroup 32;
param a: f32;
input_output u: u32[]; input_output f: f32[]; input h: f16[]; shared s: i32[64];
table T: u32[3] = { 1u, 2u, 3u };
fn one() -> u32 { return 1u; }
fn mixed(v: u32, w: f32, z: f32x2) -> f32 {
    let q = w * 2.0;
    var r = q;
    if v == 0u { r = z.x; } else { r = z.y; }
    return r;
}
variant "opencl-c" entry "everything" text """""";
main {
    let i = global_id.x + local_id.y + workgroup_id.z;
    var p = 5;
    var z: f32x4;
    var arr: f32[8];
    p += 1;
    z.w = a;
    u[i] = one();
    arr[i] = mixed(i, a, f32x2(a, 1.0));
    atomic_add(u[0u], 1u);
    if i < len(u) { p = 1; } else { p = 2; }
    for j in 0u..10u step 2u {
        if j == 4u { continue; }
        if j == 8u { break; }
    }
    while p < 3 { p = p + 1; }
    barrier;
    grid_barrier;
    let l0 = len64(u);
    let l1 = len(T) + len(arr);
    let l2 = len64(T) + len64(arr);
    let l3 = T[i];
    let l4 = arr[i] + f[i];
    let v = f32x4(a);
    let l5 = i32x4(v);
    let l6 = bitcast<u32>(a);
    let l7 = select(i < 3u, v.x, z.w);
    let l8 = num_workgroups + workgroup_size;
    let l9 = local_index + subgroup_size + num_subgroups + subgroup_id + subgroup_lane;
    let lits = f64x3(1.5f64, -2.5f64, inf_f64);
    let ints = i64(-3) + -4i64 - i64(h[0u] < 1.0f16);
    let g = i ^ ~i & 7u | 8u;
    let o0 = -a * a / a - a + a;
    let o1 = g % 7u << 2u >> 1u;
    let o2 = !(i > 1u && i >= 2u || i <= 3u && i != 4u);
    let o3 = rotl(g, 3u) + rotr(g, 4u) + popcount(g) + clz(g) + ctz(g) + reverse_bits(g);
    let o4 = mul_hi(g, i) + add_sat(g, i) + sub_sat(g, i);
    let o5 = abs(a) + min(a, 1.0) + max(a, 2.0) + clamp(a, 0.0, 1.0);
    let o6 = sqrt(a) + fma(a, a, a) + copysign(a, -1.0);
    let o7 = floor(a) + ceil(a) + trunc(a) + round(a);
    let o8 = isnan(a) || isinf(a) || any(v < z) || all(v == z);
    let m0 = exp(a) + exp2(a) + exp10(a) + log(a) + log2(a) + log10(a);
    let m1 = sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan(a) + atan2(a, a);
    let m2 = sinh(a) + cosh(a) + tanh(a) + pow(a, a) + rsqrt(a) + cbrt(a) + hypot(a, a) + erf(a);
    let m3 = expm1(a) + log1p(a) + sinpi(a) + cospi(a);
    let e0 = atomic_load(u[i]);
    atomic_store(u[i], 1u);
    let e1 = atomic_exchange(u[i], 1u);
    p = atomic_min(s[i], 1);
    z.x = atomic_add(f[i], 1.0);
    u[i] = atomic_max(u[i], 1u);
    arr[i] = atomic_add(f[i], a);
    var e2 = atomic_and(u[i], 1u);
    atomic_or(u[i], 1u);
    atomic_xor(u[i], 1u);
    atomic_cas(u[i], 1u, 2u);
    let s0 = subgroup_broadcast(a, 3u);
    let s1 = subgroup_shuffle(a, i);
    let s2 = subgroup_shuffle_xor(a, 1u);
    let s3 = subgroup_any(i < 3u);
    let s4 = subgroup_all(i < 3u);
    let s5 = subgroup_ballot(i < 3u);
    let s6 = subgroup_add(a);
    let s7 = subgroup_min(a);
    let s8 = subgroup_max(a);
    let s9 = subgroup_inclusive_add(i);
    let s10 = subgroup_exclusive_add(i);
    let s11 = subgroup_and(i);
    let s12 = subgroup_or(i);
    let s13 = subgroup_xor(i);
    let s14 = workgroup_uniform_load(s[0u]);
    if i == 9u { trap 65535; }
    return;
}
)";

void collect(const wye::ir::Code& code, std::set<unsigned>& seen) {
    for (const auto& e : code.exprs) seen.insert(static_cast<unsigned>(e.op));
    for (const auto& s : code.stmts) seen.insert(static_cast<unsigned>(s.op));
}

}  // namespace

TEST_CASE("every opcode, built and parsed") {
    const auto wire = everything().wire();
    const auto read = wye::ir::decode(wire);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().text()));
    std::set<unsigned> seen;
    collect(read->main, seen);
    for (const auto& f : read->functions) collect(f.code, seen);
    std::set<unsigned> all;
    for (unsigned code = 0; code < 0x10000; ++code)
        if (wye::ir::op_known(code)) all.insert(code);
    CHECK(seen == all);
    std::string problems;
    wye::ir::Program typed = *read;
    wye::ir::assign_types(typed,
                          [&](const wye::ir::TypeProblem& p) { problems += p.problem + "\n"; });
    CHECK(problems.empty());
    same(wire, kEverything);
}

TEST_CASE("misuse surfaces when the program is read") {
    const auto refused = [](const Kernel& k, const char* part) {
        const auto read = wye::ir::decode(k.wire());
        REQUIRE_FALSE(read.ok());
        CHECK_MESSAGE(read.error().message.find(part) != std::string::npos, read.error().message);
    };
    Kernel size("size");
    auto x = size.input("x", b::f32);
    size.input("y", b::f32, len(x) % 3U);
    refused(size, "size operation 0x0");

    Kernel negative("negative");
    negative.input("y", b::f32, -1);
    refused(negative, "size operation 0x0");

    Kernel twice("twice");
    twice.input("x", b::f32, {}, {.binding = 4});
    twice.input("y", b::f32, {}, {.binding = 4});
    refused(twice, "binding 4 does not come after binding 4");

    Kernel unknown("unknown");
    unknown.math_set(3);
    refused(unknown, "math set 3 is unknown");

    Kernel zero("zero");
    zero.workgroup(0);
    refused(zero, "axis is zero");

    Kernel foreign("foreign");
    Kernel other("other");
    other.let(1);
    const Expr local = other.let(2);
    foreign.let(local);
    refused(foreign, "local 1 does not exist");

    Kernel few("few");
    few.fn("f", b::u32, {}, [](Body&, Expr v) { return v; });
    refused(few, "local 4294967295 does not exist");
}

}  // namespace test_builder
