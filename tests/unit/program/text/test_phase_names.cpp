// SPDX-License-Identifier: Apache-2.0
// Behind a grid barrier, names of the previous phase may be declared again, except names that live
// on: loop variables, and lets whose value is the same in the whole grid (level 0).
#include <doctest/doctest.h>

#include "program/wire/encode.hpp"
#include "text_helpers.hpp"

namespace test_phase_names {

using wye::ir::parse;
using wye::ir::print;

namespace {

std::string first_problem(const std::string& body) {
    const auto list = test::problems(test::around(body));
    return list.empty() ? "" : list.front().message;
}

}  // namespace

TEST_CASE("a name is declared again behind a grid barrier") {
    for (const char* body :
         {"var t = 1u; r[0] = t; grid_barrier; var t = 2u; r[0] = t;",
          "let t = local_index; r[t] = t; grid_barrier; let t = global_id.x; r[t] = t;",
          "var t: u32[4]; grid_barrier; let t = 1.0; r[0] = u32(t);",
          "let t = b[0]; grid_barrier; if n > 1u { var t = 1; r[0] = u32(t); }",
          "let t = b[0]; grid_barrier; for t in 0u..n { r[t] = t; }",
          "for q in 0u..n { let t = b[0]; grid_barrier; let t = b[1]; r[0] = t; }",
          "var t = 1u; for q in 0u..n { grid_barrier; var t = 2u; r[q] = t; } let t = b[0]; r[1] = "
          "t;",
          "var t = 1u; grid_barrier; if n > 1u { var t = 1u; t += 1u; } var t = 3u; r[0] = t; "
          "grid_barrier; var t = 4u; r[0] = t;"}) {
        CAPTURE(body);
        const std::string text = test::around(body);
        CHECK(first_problem(body) == "");
        // The printed text has the same names. The parser reads the same program from it, also in
        // wire form.
        auto parsed = parse(text);
        REQUIRE(parsed.ok());
        REQUIRE(wye::ir::validate(parsed.program).empty());
        const std::string printed = print(parsed.program);
        CHECK(printed.find("t_2") == std::string::npos);
        auto again = parse(printed);
        REQUIRE_MESSAGE(again.ok(), printed);
        REQUIRE(wye::ir::validate(again.program).empty());
        CHECK(print(again.program) == printed);
        CHECK(same_program(parsed.program, again.program));
        const auto wire = encode(parsed.program), wire_again = encode(again.program);
        REQUIRE(wire.ok());
        REQUIRE(wire_again.ok());
        CHECK(*wire == *wire_again);
    }
}

TEST_CASE("a name that lives on is not declared again") {
    for (const char* body :
         {"let t = n; grid_barrier; let t = 1u; r[0] = t;",
          "let t = len(x); grid_barrier; grid_barrier; var t = 1u; r[0] = t;",
          "for t in 0u..n { grid_barrier; let t = 1u; r[0] = t; }",
          "grid_barrier; let t = 1u; var t = 2u;",
          "var t = 1u; if n > 1u { let t = 2u; } grid_barrier;", "grid_barrier; let n = 1u;"}) {
        CAPTURE(body);
        CHECK(first_problem(body).find("already declared at") != std::string::npos);
    }
    // A use above the new declaration means the earlier name.
    CHECK(first_problem("var t = 1u; grid_barrier; r[0] = t; var t = 2u;")
              .find("does not survive the `grid_barrier`") != std::string::npos);
    CHECK(first_problem("var t = 1u; grid_barrier; if n > 1u { var t = 2u; } r[0] = t;") ==
          "`t` is out of scope here; the one declared at 7:43 ends with its block");
}

}  // namespace test_phase_names
