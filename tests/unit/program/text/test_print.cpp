// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "generated.hpp"
#include "program/analysis/analysis.hpp"
#include "program/wire/encode.hpp"
#include "support/sanitized.hpp"
#include "text_helpers.hpp"
#include "wye/sdk/wire.hpp"

namespace test_print {

namespace {

// Checks that the printed text is the same program, and that this program is printed the same way.
void round_trip(const wye::ir::Program& program) {
    const std::string text = print(program);
    CAPTURE(text);
    wye::ir::ParseResult again = wye::ir::parse(text);
    REQUIRE_MESSAGE(again.ok(), test::shown(again.diagnostics, text));
    CHECK(same_program(program, again.program));
    CHECK(print(again.program) == text);
    const auto list = validate(again.program);
    CHECK_MESSAGE(list.empty(), test::shown(list, text));
}

std::string printed(const std::string& text) {
    const wye::ir::ParseResult result = wye::ir::parse(text);
    REQUIRE_MESSAGE(result.ok(), test::shown(result.diagnostics, text));
    return print(result.program);
}

std::string body(const std::string& text) {
    const std::string all = printed(
        "wye 1; program p; workgroup 1; param n: u32; param a: f32;"
        "output r: u32[]; main {" +
        text + "}");
    return all.substr(all.find("main {\n") + 7);
}

}  // namespace

TEST_CASE("one layout") {
    const std::string text =
        "wye 1;  program t;  workgroup 8, 1, 2 adjustable;  const N = 0x10; subgroup 16;\n"
        "param a: f32; param n: u32; input x: f32[]; fn early(a1: u32) -> u32 { return a1; }\n"
        "output r: f32[len(x) * (N - 2) - (3 - n)] locality streaming binding 5 align 64 "
        "prefer_align 0x80 coalesce z;\n"
        "input_output y: f32x3[N] binding 7 bytes 0..N; shared s: u32[4] unset;\n"
        "table q: f32[2] = { 1.5, -0.0 }; grid elements len(x), (n + 1) * 2;\n"
        "variant \"ptx\" entry \"k\" text \"\"\"a\"b\"\"\"; main { }";
    CHECK(printed(text) ==
          "wye 1;\nprogram t;\nworkgroup 8, 1, 2 adjustable;\nsubgroup 16;\n\n"
          "param a: f32;\nparam n: u32;\n"
          "input x: f32[];\n"
          "input_output y: f32x3[16] binding 7 bytes 0..16;\n"
          "shared s: u32[4] unset;\n"
          "output r: f32[len(x) * (16 - 2) - (3 - n)] binding 5 align 64 coalesce z "
          "prefer_align 128 locality streaming;\n"
          "table q: f32[2] = {\n    1.5, -0.0\n};\n"
          "grid elements len(x), (n + 1) * 2;\n"
          "variant \"ptx\" entry \"k\" text \"\"\"a\"b\"\"\";\n\n"
          "fn early(a1: u32) -> u32 {\n    return a1;\n}\n\n"
          "main {\n}\n");
}

TEST_CASE("the fewest parentheses") {
    CHECK(body("let q = ((1 + 2) * (3)) - (4 - 5);") == "    let q = (1 + 2) * 3 - (4 - 5);\n}\n");
    CHECK(body("let q = -(1) + - -1 - (-2) * ~(3);") == "    let q = -(1) + -(-1) - -2 * ~3;\n}\n");
    CHECK(body("let q = (n == 1u) == (n == 2u) && ((n < 3u) || true);") ==
          "    let q = (n == 1u) == (n == 2u) && (n < 3u || true);\n}\n");
    CHECK(body("let q = (f32x2(a)).x * -a;") == "    let q = f32x2(a).x * -a;\n}\n");
    CHECK(body("let q = (-f32x2(a) + f32x2(1.0)).y;") ==
          "    let q = (-f32x2(a) + f32x2(1.0)).y;\n}\n");
}

TEST_CASE("statements print in their short forms") {
    CHECK(body("var q = 1u; q = q + n * 2u; q = n + q; q = q << 1u;\n"
               "if q == 1u { } else { if q == 2u { q = 1u; } else { q = 2u; } }\n"
               "for i in 0u..n step 1u { } for i in 0u..n step 2u { }") ==
          "    var q = 1u;\n    q += n * 2u;\n    q = n + q;\n    q <<= 1u;\n"
          "    if q == 1u {\n    } else if q == 2u {\n        q = 1u;\n    } else {\n"
          "        q = 2u;\n    }\n"
          "    for i in 0u..n {\n    }\n    for i in 0u..n step 2u {\n    }\n}\n");
}

TEST_CASE("names of locals are kept where legal and free") {
    wye::ir::ParseResult result = wye::ir::parse(
        "wye 1; program p; workgroup 1; param n: u32; output r: u32[]; main {\n"
        "let a = 1u; let b = 2u; if n == 1u { let c = 3u; } let d = 4u; r[a + b + d] = a; }");
    REQUIRE(result.ok());
    auto& locals = result.program.main.locals;
    locals[0].name = "";
    locals[1].name = "n";      // a parameter
    locals[2].name = "while";  // reserved
    locals[3].name = "v0";     // the name made up for the first local
    const std::string text = print(result.program);
    CHECK(text.find("let v0 = 1u;") != std::string::npos);
    CHECK(text.find("let n_2 = 2u;") != std::string::npos);
    CHECK(text.find("let v2 = 3u;") != std::string::npos);
    CHECK(text.find("let v0_2 = 4u;") != std::string::npos);
    CHECK(text.find("r[v0 + n_2 + v0_2] = v0;") != std::string::npos);
    round_trip(result.program);
}

TEST_CASE("the math set is printed where it is not the first") {
    CHECK(printed("wye 1; math 1; program p; workgroup 1; main { }") ==
          "wye 1;\nprogram p;\nworkgroup 1;\n\nmain {\n}\n");
    CHECK(printed("wye 1; math 2; program p; workgroup 1; main { }") ==
          "wye 1;\nmath 2;\nprogram p;\nworkgroup 1;\n\nmain {\n}\n");
    // In the wire form, a local may have a name that set 2 reserves.
    wye::ir::ParseResult result =
        wye::ir::parse("wye 1; program p; workgroup 1; main { let sinpi = 1u; }");
    REQUIRE(result.ok());
    CHECK(print(result.program).find("let sinpi = 1u;") != std::string::npos);
    round_trip(result.program);
    result.program.math_set = 2;
    CHECK(print(result.program).find("let v0 = 1u;") != std::string::npos);
    round_trip(result.program);
}

TEST_CASE("code that is not text prints as a file to be filled") {
    wye::ir::ParseResult result = wye::ir::parse(
        "wye 1; program p; workgroup 1; variant \"spirv-vulkan\" entry \"k\" text \"\"\"x\"\"\"; "
        "main { }");
    REQUIRE(result.ok());
    result.program.variants[0].bytes = {std::byte{0xff}, std::byte{3}};
    const std::string text = print(result.program);
    CHECK(text.find("// 2 bytes that are not text:\n") != std::string::npos);
    CHECK(wye::ir::parse(text).program.variants.at(0).file == "variant0.bin");
}

TEST_CASE("random valid programs survive text and wire") {
    for (std::uint64_t seed = 0; seed < (support::kSanitized ? 100 : 400); ++seed) {
        CAPTURE(seed);
        wye::ir::Program program = test::renamed(seed);
        const auto list = validate(program);
        const std::string text = print(program);
        CAPTURE(text);
        REQUIRE_MESSAGE(list.empty(), list[0].where << ": " << list[0].message);
        round_trip(program);
        const auto wire = encode(program);
        REQUIRE(wire.ok());
        auto decoded = wye::ir::decode(*wire);
        REQUIRE(decoded.ok());
        CHECK(validate(*decoded).empty());
        CHECK(same_program(program, *decoded));
        CHECK(print(*decoded) == text);
        (void)analyse(program);
        (void)zero_fill(program);
    }
}

}  // namespace test_print
