// SPDX-License-Identifier: Apache-2.0
//
// Tests the table of quirks, and which programs the quirks change.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "lower/lower.hpp"
#include "lower/quirks/drivers.hpp"
#include "programs.hpp"
#include "support/spirv_check.hpp"

using wye::lower::Artifact;
using wye::lower::Quirk;
using wye::lower::quirk_entries;
using wye::lower::quirks_of;
using wye::lower::QuirkSet;
using wye::lower::TargetFacts;

namespace {

Artifact lowered(const std::string& text, std::string_view format, const TargetFacts& facts) {
    auto result = wye::lower::lower(valid_program(text), format, facts);
    if (!result.ok()) throw std::runtime_error(result.error().text());
    return *std::move(result);
}

TargetFacts cpu() {
    TargetFacts facts;
    facts.workgroup_loops = true;
    facts.quirks = QuirkSet::of_unknown_driver(true);
    return facts;
}

bool hides(const std::string& body, const TargetFacts& facts = cpu(),
           const std::string& workgroup = "64", const std::string& heads = {},
           std::string_view format = WYE_FORMAT_OPENCL_C) {
    const std::string text = "wye 1; program p; workgroup " + workgroup +
                             "; param a: u32; input x: u32[256]; output r: u32[256]; "
                             "input_output b: u32[256]; " +
                             heads + " main { " + body + " }";
    CAPTURE(text);
    return lowered(text, format, facts).text().find("oz") != std::string::npos;
}

bool stays(const std::string& body, const std::string& heads = {}) {
    const std::string text =
        "wye 1; program p; workgroup 64; input x: u32[256]; "
        "output r: u32[256]; " +
        heads + " main { var s: u32[24]; var t = x[local_index]; " + body +
        " r[local_index] = t; }";
    const std::string module = support::spirv_text(lowered(text, WYE_FORMAT_SPIRV, cpu()).code);
    return module.find("DontUnroll") != std::string::npos;
}

std::string twenty_four() {
    std::string out = "table c: u32[24] = {0u";
    for (int k = 1; k < 24; ++k) out += ", " + std::to_string(k) + "u";
    return out + "};";
}

}  // namespace

TEST_CASE("the table has each quirk once, with a regression that exists") {
    std::set<std::string_view> names;
    unsigned next = 0;
    for (const auto& entry : quirk_entries()) {
        CAPTURE(entry.name);
        CHECK(static_cast<unsigned>(entry.id) == next++);
        CHECK(names.insert(entry.name).second);
        CHECK(std::filesystem::exists(std::filesystem::path(WYE_REGRESSIONS) / entry.regression));
        for (const std::string_view text :
             {entry.seen_on, entry.fault, entry.workaround, entry.cost})
            CHECK_FALSE(text.empty());
        CHECK(entry.formats != 0);
        CHECK((entry.drivers == 0) == (entry.found == wye::lower::QuirkEntry::Found::SelfTest));
        CHECK(entry.first_version <= entry.last_version);
    }
}

TEST_CASE("a set keeps what the format can need") {
    const QuirkSet all = QuirkSet::all();
    CHECK(all.for_format(WYE_FORMAT_OPENCL_C).has(Quirk::LlvmMaskedAffineIndex));
    CHECK_FALSE(all.for_format(WYE_FORMAT_SPIRV).has(Quirk::LlvmMaskedAffineIndex));
    CHECK(all.for_format(WYE_FORMAT_SPIRV).has(Quirk::MesaUnrollTableLoop));
    CHECK(all.for_format(WYE_FORMAT_PROGRAM) == QuirkSet::none());
    CHECK(all.names().size() == quirk_entries().size());
    QuirkSet one;
    one.set(Quirk::MesaUnrollTableLoop);
    CHECK(one.has(Quirk::MesaUnrollTableLoop));
    CHECK(one.names() == std::vector<std::string_view>{"mesa-unroll-table-loop"});
    one.set(Quirk::MesaUnrollTableLoop, false);
    CHECK(one == QuirkSet::none());
}

TEST_CASE("a list of names is read, and an unknown one is refused with those that there are") {
    const auto two = wye::lower::parse_quirks("nvidia-vk-abs-min,pocl-barriers");
    REQUIRE(two.ok());
    CHECK(two->names() == std::vector<std::string_view>{"pocl-barriers", "nvidia-vk-abs-min"});
    CHECK(*wye::lower::parse_quirks("") == QuirkSet::none());
    CHECK(*wye::lower::parse_quirks("all") == QuirkSet::all());
    const auto wrong = wye::lower::parse_quirks("pocl-barriers,mesa");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(wrong.error().message == "there is no quirk named `mesa`");
    for (const auto& entry : quirk_entries())
        CHECK(wrong.error().fix.find("`" + std::string(entry.name) + "`") != std::string::npos);
}

TEST_CASE("lanes wait for each other behind an atomic operation in shared memory that spins") {
    TargetFacts facts;
    const auto waits = [&](const std::string& type, const std::string& statement) {
        const std::string text = "wye 1; program p; workgroup 32; input_output b: " + type +
                                 "[4]; shared s: " + type + "[4]; main { " + statement + " }";
        CAPTURE(text);
        return lowered(text, WYE_FORMAT_CUDA_C, facts).text().find("__syncwarp(lanes)") !=
               std::string::npos;
    };
    CHECK(waits("u64", "atomic_xor(s[0], 1u64);"));
    CHECK(waits("i64", "b[0] = atomic_min(s[local_index], 1i64);"));
    CHECK(waits("f32", "b[0] = atomic_add(s[0], 1.0);"));
    CHECK_FALSE(waits("u64", "atomic_xor(b[0], 1u64);"));
    CHECK_FALSE(waits("u64", "b[0] = atomic_exchange(s[0], 1u64);"));
    CHECK_FALSE(waits("u32", "atomic_xor(s[0], 1u);"));
    facts.quirks.set(Quirk::PtxasSpinningAtomic, false);
    CHECK_FALSE(waits("u64", "atomic_xor(s[0], 1u64);"));
}

TEST_CASE("drivers are known by what they say of themselves") {
    using wye::lower::driver_version;
    CHECK(driver_version("580.159.03") == 580'159);
    CHECK(driver_version("Mesa 22.3.6 (LLVM 15.0.6)") == 22'003);
    CHECK(driver_version("3.1") == 3'001);
    CHECK(driver_version("7") == 7'000);
    CHECK(driver_version("") == 0);
    CHECK(driver_version("no number") == 0);
    CHECK(driver_version("99999999999999999999.5") < wye::lower::kAnyVersion);
    CHECK(wye::lower::driver_bits({.platform = "NVIDIA CUDA", .driver = "580.159"}) ==
          wye::lower::kDriverNvidia);
    CHECK(wye::lower::driver_bits({.platform = "llvmpipe", .driver = "Mesa 22.3.6 (LLVM 15)"}) ==
          (wye::lower::kDriverLlvmpipe | wye::lower::kDriverMesa));
    CHECK(wye::lower::driver_bits({.platform = "AMD proprietary driver", .driver = "23.1"}) == 0);
}

TEST_CASE("each driver gets its own workarounds, an unknown one the cautious set") {
    const QuirkSet nvidia = quirks_of({.platform = "NVIDIA", .driver = "580.159"});
    CHECK(nvidia.has(Quirk::NvidiaVkAbsMin));
    CHECK(nvidia.has(Quirk::NvidiaVkWideDivision));
    CHECK_FALSE(nvidia.has(Quirk::LlvmpipeWayOut));
    const QuirkSet lavapipe = quirks_of(
        {.platform = "llvmpipe", .driver = "Mesa 22.3.6 (LLVM 15.0.6)", .whole_workgroups = true});
    CHECK(lavapipe.has(Quirk::LlvmpipeWayOut));
    CHECK(lavapipe.has(Quirk::MesaOneBesideZero));
    CHECK_FALSE(lavapipe.has(Quirk::NvidiaVkAbsMin));
    const QuirkSet pocl = quirks_of(
        {.platform = "Portable Computing Language", .driver = "3.1", .whole_workgroups = true});
    CHECK(pocl.has(Quirk::PoclBarriers));
    CHECK_FALSE(pocl.has(Quirk::PtxasAbsMin));

    // The cautious set for unknown drivers: quirks whose faults are silent and may occur elsewhere,
    // but no quirk that is due to one driver's own code.
    const QuirkSet amd = quirks_of({.platform = "AMD proprietary driver", .driver = "23.1"});
    CHECK(amd == QuirkSet::of_unknown_driver(false));
    CHECK(amd.has(Quirk::NvidiaVkAbsMin));
    CHECK_FALSE(amd.has(Quirk::NvidiaVkWideDivision));
    CHECK_FALSE(amd.has(Quirk::LlvmpipeEndOfRow));
    CHECK(quirks_of({.platform = "Oclgrind", .driver = "21.10", .whole_workgroups = true})
              .has(Quirk::PoclBarriers));
    // radv is another Mesa driver, so radv gets the quirks of Mesa's compiler.
    const QuirkSet radv = quirks_of({.platform = "radv", .driver = "Mesa 23.2.1"});
    CHECK(radv.has(Quirk::MesaOneBesideZero));
    CHECK(radv.has(Quirk::NvidiaVkAbsMin));
    CHECK_FALSE(radv.has(Quirk::LlvmpipeWayOut));
}

TEST_CASE("what the self-test finds counts, whatever the driver") {
    for (const char* platform : {"NVIDIA", "llvmpipe", "someone's"}) {
        CHECK_FALSE(quirks_of({.platform = platform}).has(Quirk::MesaLiteralZero));
        CHECK(quirks_of({.platform = platform, .folds_literal_zero = true})
                  .has(Quirk::MesaLiteralZero));
    }
    CHECK_FALSE(QuirkSet::of_no_device().has(Quirk::MesaLiteralZero));
}

TEST_CASE("somebody who looks for a fault may ask for more, and for less") {
    wye::lower::QuirkChoice choice;
    choice.with.set(Quirk::NvidiaVkAbsMin);
    choice.without.set(Quirk::PoclBarriers);
    const QuirkSet pocl = quirks_of({.platform = "Portable Computing Language", .driver = "3.1"});
    const QuirkSet chosen = choice.of(pocl);
    CHECK(chosen.has(Quirk::NvidiaVkAbsMin));
    CHECK_FALSE(chosen.has(Quirk::PoclBarriers));
    CHECK(chosen.has(Quirk::PoclNanInTable));
}

TEST_CASE("low bits of steps that are no power of two are hidden") {
    for (const char* index :
         {"i * 5u & 63u", "i * 5u % 64u", "63u & i * 3u", "i * 6u & 127u", "(i << 2u) + i & 63u",
          "i + i + i & 63u", "i * a & 63u", "(i * 3u | 64u) & 127u", "(i * 20u >> 2u) & 63u",
          "(i * 5u & 63u) + 1u", "i * 5u << 26u >> 26u", "(i * 3u ^ 64u) & 127u",
          "a - i * 3u & 63u"}) {
        CAPTURE(index);
        CHECK(hides("for i in 0u..64u { r[i] = x[" + std::string(index) + "]; }"));
        CHECK(hides("for i in 0u..64u { r[" + std::string(index) + "] = x[i]; }"));
    }
    CHECK(hides("for i in 0u64..64u64 { r[i] = x[i * 5u64 & 63u64]; }"));
    CHECK(hides("for i in 0..64 { r[i] = x[i * 5 & 63]; }"));
    CHECK(hides("for i in 0..64 { r[i] = x[i * 5 % 64]; }"));
    CHECK(hides("for i in 0u..192u step 3u { r[i] = x[i & 63u]; }"));
    CHECK(hides("for i in 0u..64u { let k = i * 5u & 63u; r[i] = x[k]; }"));
    CHECK(hides("for i in 0u..64u { var k = 0u; k = i * 5u & 63u; r[i] = x[k]; }"));
    CHECK(hides("var j = 0u; for i in 0u..64u { r[i] = x[j & 63u]; j += 5u; }"));
    CHECK(hides("var j = 0u; for i in 0u..64u { r[i] = j; j = (j & 63u) + 5u; }"));
    CHECK(hides("var j = 0u; for i in 0u..64u { r[i] = j; let k = j & 63u; j = k + 5u; }"));
    CHECK(hides("for i in 0u..64u { r[i] = x[f(i)]; }", cpu(), "64",
                "fn f(i: u32) -> u32 { return i * 5u & 63u; }"));
    CHECK(hides("r[local_index] = x[local_index * 5u & 63u];"));
    CHECK(hides("r[global_id.x] = x[local_id.x * 7u % 64u];"));
    CHECK(hides("r[local_index] = x[local_index & 63u];", cpu(), "3, 20"));  // rows of 3
    CHECK(hides("for i in 0u..64u { atomic_add(b[i * 5u & 63u], 1u); }"));
}

TEST_CASE("other masks are left alone") {
    for (const char* index :
         {"i & 63u", "i * 4u & 63u", "(i << 3u) % 64u", "(i + 5u) & 15u", "i * 5u", "x[i] & 63u",
          "x[i * 5u] & 255u", "i % 10u", "min(i * 5u, 63u)"}) {
        CAPTURE(index);
        CHECK_FALSE(hides("for i in 0u..64u { r[i] = x[" + std::string(index) + "]; }"));
    }
    CHECK_FALSE(hides("for i in 0u..64u { r[i] = i * 5u & 63u; }"));  // not an index
    CHECK_FALSE(hides("r[local_index] = x[local_index & 31u];"));
    CHECK_FALSE(hides("r[local_index] = x[local_index & 31u];", cpu(), "8, 8"));
    CHECK_FALSE(hides("r[local_index] = x[local_index * 5u & 63u];", TargetFacts{}));
    TargetFacts trusted = cpu();
    trusted.quirks.set(Quirk::LlvmMaskedAffineIndex, false);
    CHECK_FALSE(hides("r[local_index] = x[local_index * 5u & 63u];", trusted));
}

TEST_CASE("floats that may be constants are hidden before their bits are used") {
    TargetFacts nvidia;
    nvidia.quirks.set(Quirk::NvvmLiteralCompare);
    const auto bits = [&](const std::string& value) {
        return hides("r[0] = bitcast<u32>(" + value + ");", nvidia, "64", "input y: f32[4];",
                     WYE_FORMAT_CUDA_C);
    };
    CHECK(bits("nan_f32 + 0.0"));
    CHECK(bits("sqrt(2.0)"));
    CHECK_FALSE(bits("nan_f32"));
    CHECK_FALSE(bits("y[0] + 1.0"));
}

TEST_CASE("integer products of a variable with itself are hidden") {
    TargetFacts nvidia;
    nvidia.quirks.set(Quirk::NvvmPowers);
    const auto powers = [&](const std::string& body, const std::string& heads = {}) {
        return hides("var v = a; var w = a; for i in 0u..9u { " + body + " } r[0] = v + w;", nvidia,
                     "64", heads, WYE_FORMAT_CUDA_C);
    };
    CHECK(powers("v = v * v;"));
    CHECK(powers("v *= v + 1u;"));
    CHECK(powers("let t = v - i; v = t * (5u - v);"));
    CHECK(powers("v = v * w; w = v;"));
    std::string chain = "let t0 = v + i;";
    for (int k = 1; k <= 20; ++k)
        chain += " let t" + std::to_string(k) + " = t" + std::to_string(k - 1) + " + i;";
    CHECK(powers(chain + " v = t20 * v;"));
    CHECK(powers("v = square(v);", "fn square(s: u32) -> u32 { return s * s; }"));
    CHECK(powers("var p = u64x2(u64(v)); p = p * p; v = u32(p.y);"));
    for (const char* body : {"v = v * 3u;", "v = v * x[i];", "v = v + i * i;", "v = (v ^ i) * v;",
                             "v = v * w;", "var f = 2.0; f = f * f; v = u32(f);"}) {
        CAPTURE(body);
        CHECK_FALSE(powers(body));
    }
}

TEST_CASE("a subgroup waits behind loops with atomics that its lanes leave at different times") {
    TargetFacts nvidia;
    nvidia.quirks.set(Quirk::PtxasEarlyLanes);
    // Returns how many times the subgroup waits.
    const auto waits = [&](const std::string& body) {
        const std::string text =
            std::string(lowered("wye 1; program p; workgroup 64; param a: u32; shared s: u32[4]; "
                                "input_output b: u32[256]; main { let i = local_index; " +
                                    body + " }",
                                WYE_FORMAT_CUDA_C, nvidia)
                            .text());
        std::size_t count = 0;
        for (std::size_t at = 0; (at = text.find("__syncwarp();", at)) != std::string::npos; ++at)
            ++count;
        return count;
    };
    const std::string sum = " b[i] = subgroup_add(i);";
    const std::string count = "atomic_add(s[0], 1u); ";
    CHECK(waits("for k in i..a { " + count + "}" + sum) == 1);
    CHECK(waits("for k in 0u..a { if k == i { " + count + "} }" + sum) == 1);
    CHECK(waits("if i < 9u { for k in 0u..a { " + count + "} }" + sum) == 1);
    CHECK(waits("if i < 9u { for k in 0u..i { for n in k..a { " + count + "} } }" + sum) == 1);
    CHECK(waits("for k in i..a { " + count + "} for k in i..a { " + count + "}" + sum) == 2);
    CHECK(waits("for k in 0u..a { " + count + "}" + sum) == 0);     // lanes leave together
    CHECK(waits("for k in i..a { b[k] = 1u; }" + sum) == 0);        // no atomic
    CHECK(waits("if i < 9u { " + count + "}" + sum) == 0);          // no loop
    CHECK(waits("for k in i..a { " + count + "} b[i] = i;") == 0);  // no subgroup operation
}

TEST_CASE("a quotient by a power of two is written as a product, other constants are hidden") {
    TargetFacts nvidia;
    nvidia.quirks.set(Quirk::NvidiaClFusedDivision);
    const auto text = [&](const std::string& value, const std::string& body) {
        const std::string program =
            "wye 1; program p; workgroup 1; param a: f32; input x: f32[2]; "
            "input_output r: f32[2]; input_output s: f64[1]; main { " +
            body + value + "; }";
        return std::string(lowered(program, WYE_FORMAT_OPENCL_C, nvidia).text());
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(text("x[0] / 4.0", "r[0] = "), "* 0.25f"));
    CHECK(has(text("x[0] / -0x1p126", "r[0] = "), "* (-1.1754944e-38f)"));
    CHECK(has(text("x[0] / 0x1p-126", "r[0] = "), "* 8.507059e+37f"));
    CHECK(has(text("s[0] / 0.5f64", "s[0] = "), "* 2.0"));
    CHECK(has(text("r[1] / r[0]", "r[0] = "), "oz"));
    CHECK(has(text("s[0] / d", "let d = f64(clz(0u)); s[0] = "), "oz"));
    CHECK_FALSE(has(text("x[0] / x[1]", "r[0] = "), "oz"));
    CHECK_FALSE(has(text("x[0] / 3.0", "r[0] = "), "oz"));
    CHECK_FALSE(has(text("x[0] / 0x1p127", "r[0] = "), "oz"));
    CHECK_FALSE(has(text("x[0] / a", "r[0] = "), "oz"));
}

TEST_CASE("large loops over as many elements as they have rounds stay loops") {
    const std::string rounds = "for k in 0u..24u { ";
    const std::string inner = "for q in 0u..8u { for p in 0u..8u { t = t * 3u + (t >> 7u); } } ";
    CHECK(stays(rounds + inner + "t = t ^ c[k]; }", twenty_four()));
    CHECK(stays(rounds + inner + "let at = k; t = t ^ c[at]; }", twenty_four()));
    CHECK(stays(rounds + inner + "t = t ^ s[k]; }"));
    CHECK(stays(rounds + inner + "s[k] = t; } t = s[3];"));
    CHECK(stays(rounds + inner + "t = t ^ at(k); }",
                twenty_four() + " fn at(k: u32) -> u32 { return c[k]; }"));
    CHECK_FALSE(stays(rounds + "t = t ^ c[k]; }", twenty_four()));  // a small body
    CHECK_FALSE(stays("for k in 0u..23u { " + inner + "t = t ^ c[k]; }", twenty_four()));
    CHECK_FALSE(stays(rounds + inner + "t = t ^ c[t % 24u]; }", twenty_four()));
    CHECK_FALSE(stays(rounds + inner + "t = t ^ x[k]; }"));  // a buffer
}

TEST_CASE("loops with `continue` are not unrolled by the driver that crashes on some of them") {
    TargetFacts facts;
    facts.quirks = quirks_of({.platform = "NVIDIA", .driver = "580.159"});
    const auto kept = [&](const std::string& loop) {
        const std::string text =
            "wye 1; program p; workgroup 64; param a: u32; output r: u32[64]; "
            "main { var t = 0u; " +
            loop + " r[local_index] = t; }";
        const Artifact made = lowered(text, WYE_FORMAT_SPIRV, facts);
        return support::spirv_text(made.code).find("DontUnroll") != std::string::npos;
    };
    CHECK(kept("for i in 0u..a { if i == 3u { continue; } t += i; }"));
    CHECK(kept(
        "for i in 0u..4u { if a > 1u { t += 2u; } else { if i == a { continue; } } t += i; }"));
    CHECK(kept("while t < a { t += 2u; if t == 8u { continue; } t *= 3u; }"));
    CHECK_FALSE(kept("for i in 0u..a { if i == 3u { break; } t += i; }"));
    facts.quirks = QuirkSet::none();
    CHECK_FALSE(kept("for i in 0u..a { if i == 3u { continue; } t += i; }"));
}
