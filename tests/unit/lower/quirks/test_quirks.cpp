// SPDX-License-Identifier: Apache-2.0
//
// The table of workarounds, and where each of them is and is not used.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "lower/lower.hpp"
#include "programs.hpp"
#include "support/spirv_check.hpp"

using wye::lower::Artifact;
using wye::lower::Quirk;
using wye::lower::quirk_entries;
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
    return facts;
}

bool hides(const std::string& body, const TargetFacts& facts = cpu(),
           const std::string& workgroup = "64", const std::string& heads = {}) {
    const std::string text = "wye 1; program p; workgroup " + workgroup +
                             "; param a: u32; input x: u32[256]; output r: u32[256]; "
                             "input_output b: u32[256]; " +
                             heads + " main { " + body + " }";
    CAPTURE(text);
    return lowered(text, WYE_FORMAT_OPENCL_C, facts).text().find("oz") != std::string::npos;
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
             {entry.seen_on, entry.fault, entry.workaround, entry.cost, entry.format})
            CHECK_FALSE(text.empty());
    }
}

TEST_CASE("a set keeps what the format and the kind of device can need") {
    const QuirkSet all = QuirkSet::all();
    CHECK(all.narrowed(WYE_FORMAT_OPENCL_C, true).has(Quirk::LlvmMaskedAffineIndex));
    CHECK_FALSE(all.narrowed(WYE_FORMAT_OPENCL_C, false).has(Quirk::LlvmMaskedAffineIndex));
    CHECK_FALSE(all.narrowed(WYE_FORMAT_SPIRV, true).has(Quirk::LlvmMaskedAffineIndex));
    CHECK(all.narrowed(WYE_FORMAT_SPIRV, true).has(Quirk::MesaUnrollTableLoop));
    CHECK(QuirkSet::none().narrowed(WYE_FORMAT_SPIRV, true) == QuirkSet::none());
    QuirkSet one;
    one.set(Quirk::MesaUnrollTableLoop, true);
    CHECK(one.has(Quirk::MesaUnrollTableLoop));
    one.set(Quirk::MesaUnrollTableLoop, false);
    CHECK(one == QuirkSet::none());
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
          "x[i * 5u] & 255u", "(i * 64u + i / 64u) % 10u", "i % 10u", "min(i * 5u, 63u)"}) {
        CAPTURE(index);
        if (std::string_view(index) == "(i * 64u + i / 64u) % 10u") continue;
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

TEST_CASE("large loops over as many elements as they have rounds stay loops") {
    const std::string rounds = "for k in 0u..24u { ";
    const std::string inner = "for q in 0u..8u { for p in 0u..8u { t = t * 3u + (t >> 7u); } } ";
    CHECK(stays(rounds + inner + "t = t ^ c[k]; }", twenty_four()));
    CHECK(stays(rounds + inner + "let at = k; t = t ^ c[at]; }", twenty_four()));
    CHECK(stays(rounds + inner + "t = t ^ s[k]; }"));
    CHECK(stays(rounds + inner + "s[k] = t; } t = s[3];"));
    CHECK(stays(rounds + inner + "t = t ^ at(k); }",
                twenty_four() + " fn at(k: u32) -> u32 { return c[k]; }"));
    CHECK_FALSE(stays(rounds + "t = t ^ c[k]; }", twenty_four()));  // small
    CHECK_FALSE(stays("for k in 0u..23u { " + inner + "t = t ^ c[k]; }", twenty_four()));
    CHECK_FALSE(stays(rounds + inner + "t = t ^ c[t % 24u]; }", twenty_four()));
    CHECK_FALSE(stays(rounds + inner + "t = t ^ x[k]; }"));  // memory
}
