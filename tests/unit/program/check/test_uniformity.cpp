// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "text_helpers.hpp"

namespace test_uniformity {

using namespace wye::ir;

namespace {

// The level of uniformity of the local `q` at the end of a body.
int level_of_q(const std::string& body, const std::string& heads = {}) {
    const std::string text = test::around(body, heads);
    ParseResult result = parse(text);
    CHECK_MESSAGE(result.ok(), test::shown(result.diagnostics, text));
    const auto list = validate(result.program);
    CHECK_MESSAGE(list.empty(), test::shown(list, text));
    const Uniformity u = uniformity(result.program);
    for (std::size_t k = 0; k < result.program.main.locals.size(); ++k)
        if (result.program.main.locals[k].name == "q") return u.locals[k];
    return -1;
}

// The message of the only error, or "".
std::string refusal(const std::string& body, const std::string& heads = {}) {
    const std::string text = test::around(body, heads);
    const auto list = test::problems(text);
    CAPTURE(test::shown(list, text));
    CHECK(list.size() <= 1);
    return list.empty() ? "" : list[0].message;
}

}  // namespace

TEST_CASE("levels of values") {
    struct Row {
        const char* body;
        int level;
    };
    for (const Row& row : {
             Row{"let q = 1u;", 0},
             Row{"let q = n + len(b) + num_workgroups.x + workgroup_size.y + subgroup_size;", 0},
             Row{"let q = workgroup_id.x * 2u;", 1},
             Row{"let q = subgroup_id + workgroup_id.x;", 2},
             Row{"let q = local_id.y;", 3},
             Row{"let q = local_index;", 3},
             Row{"let q = global_id.x;", 3},
             Row{"let q = subgroup_lane;", 3},
             Row{"let q = x[n];", 0},
             Row{"let q = x[workgroup_id.x];", 1},
             Row{"let q = x[local_index];", 3},
             Row{"let q = k[n];", 0},
             Row{"let q = b[0];", 3},
             Row{"let q = s[0];", 3},
             Row{"let q = atomic_load(b[0]);", 3},
             Row{"let q = workgroup_uniform_load(s[3]);", 1},
             Row{"let q = subgroup_broadcast(local_index, 3u);", 2},
             Row{"let q = subgroup_add(local_index);", 2},
             Row{"let q = subgroup_ballot(local_index == 3u);", 2},
             Row{"let q = subgroup_any(true);", 2},
             Row{"let q = subgroup_shuffle(1u, 1u);", 3},
             Row{"let q = subgroup_inclusive_add(1u);", 3},
             Row{"var q = 0u;", 0},
             Row{"var q = 0u; q = workgroup_id.x;", 1},
             Row{"var q = 0u; if local_index == 1u { q = 1u; }", 3},
             Row{"if local_index == 1u { let q = n; }", 0},
             Row{"if local_index == 1u { var q = n; }", 3},
             Row{"if workgroup_id.x == 1u { var q: f32; }", 1},
             Row{"var q: u32[4]; q[local_index] = 1u;", 3},
             Row{"var q: u32[4]; q[0] = n;", 0},
             Row{"var e: u32[4]; let q = e[workgroup_id.y];", 1},
             Row{"for q in 0u..n { }", 0},
             Row{"for q in 0u..workgroup_id.x { }", 1},
             Row{"for q in 0u..n step local_index { }", 3},
             Row{"var q = 0u; for i in 0u..local_index { q += 1u; }", 3},
             // Needs several passes: q's level follows z's, z's follows p's, and p's follows
             // local_index.
             Row{"var q = 0u; var z = 0u; var p = 0u;\n"
                 "while n == p { q = z; z = p; p = local_index; }",
                 3},
             Row{"var q = 0u; while n == q { if b[0] == 1u { break; } q += 1u; }", 3},
             Row{"var q = 0u; while n == q { if n == 1u { break; } q += 1u; }", 0},
             Row{"if local_index == 3u { return; } var q = 0u;", 3},
             Row{"if workgroup_id.x == 3u { trap 1; } var q = 0u;", 1},
             Row{"var q = 0u; for i in 0u..n { q = 1u; if local_index == 3u { return; } }", 3},
             Row{"if n == 1u { if local_index == 3u { return; } } else { var q = 1u; }", 3},
             Row{"if n == 1u { var q = 1u; } if local_index == 3u { return; }", 0},
         }) {
        CAPTURE(std::string(row.body));
        CHECK(level_of_q(row.body) == row.level);
    }
}

TEST_CASE("levels of calls") {
    const std::string heads =
        "fn same(v: u32) -> u32 { var z = v; for i in 0u..v { z += i; } return z; }\n"
        "fn group(v: u32) -> u32 { return v + workgroup_id.x; }\n"
        "fn lane(v: u32) -> u32 { return group(v) + local_index; }\n"
        "table t: u32[2] = { 1u, 2u };";
    CHECK(level_of_q("let q = same(n);", heads) == 0);
    CHECK(level_of_q("let q = same(workgroup_id.y);", heads) == 1);
    CHECK(level_of_q("let q = same(local_index);", heads) == 3);
    CHECK(level_of_q("let q = group(n);", heads) == 1);
    CHECK(level_of_q("let q = lane(n);", heads) == 3);
    CHECK(level_of_q("let q = t[workgroup_id.x];", heads) == 1);
}

TEST_CASE("demands") {
    CHECK(refusal("barrier;") == "");
    CHECK(refusal("if workgroup_id.x == 1u { barrier; }") == "");
    CHECK(refusal("for i in 0u..n { barrier; }") == "");
    CHECK(refusal("if subgroup_id == 1u { let q = subgroup_add(n); }") == "");
    CHECK(refusal("let q = subgroup_broadcast(n, subgroup_id);") == "");
    CHECK(refusal("let i = local_id.x;\nif i < 3u { barrier; }") ==
          "`barrier` is in control flow that is not uniform in the workgroup: it differs "
          "between invocations because of `local_id` at 7:9, through `i`, the `if` at 8:1");
    CHECK(refusal("if subgroup_id == 1u { barrier; }")
              .find("it differs between subgroups because of `subgroup_id`") != std::string::npos);
    CHECK(refusal("if local_index == 1u { let q = subgroup_add(n); }")
              .find("not uniform in the subgroup") != std::string::npos);
    CHECK(refusal("let q = subgroup_broadcast(n, local_index);").find("the lane of") == 0);
    CHECK(refusal("let q = workgroup_uniform_load(s[local_index]);").find("the index of") == 0);
    CHECK(refusal("if local_index == 1u { return; }\nbarrier;").find("the `return` at 7:24") !=
          std::string::npos);
    CHECK(refusal("for i in 0u..n { if b[i] == 1u { break; }\nbarrier; }")
              .find("the load from `b` at 7:21") != std::string::npos);
    CHECK(refusal("if f(n) == 1u { barrier; }", "fn f(v: u32) -> u32 { return v + local_index; }")
              .find("the call of `f`") != std::string::npos);
    CHECK(refusal("if workgroup_id.x == 1u { grid_barrier; }") != "");
}

TEST_CASE("grid barriers") {
    CHECK(refusal("b[global_id.x] = 1u; grid_barrier; let i = global_id.x; b[i] = r[i];") == "");
    CHECK(refusal("let q = n; grid_barrier; b[0] = q;") == "");
    CHECK(refusal("let q = workgroup_id.x; grid_barrier; b[0] = q;").find("`q` does not survive") ==
          0);
    CHECK(refusal("var q = n; grid_barrier; b[0] = q;").find("`q` does not survive") == 0);
    CHECK(refusal("var q = n; grid_barrier; q = 1u;").find("`q` does not survive") == 0);
    CHECK(refusal("let q = n + 1u; let sum = q * 2u; grid_barrier; b[0] = sum;") == "");
    CHECK(refusal("var q = n; q = q + 1u; let v = q; let sum = v; grid_barrier; b[0] = sum;")
              .find("`sum` does not survive the `grid_barrier` above: only a `let` that is the "
                    "same in the whole grid and uses no variables survives, and it depends on "
                    "`q`") == 0);
    CHECK(refusal("var q: u32[4]; q[0] = n; let v = q[0]; grid_barrier; b[0] = v;")
              .find("`v` does not survive") == 0);
    CHECK(refusal("var q: u32[4]; b[0] = q[0]; grid_barrier; b[0] = len(q);")
              .find("`q` does not survive") == 0);
    CHECK(refusal("for i in 0u..n { var q = i; let v = q; grid_barrier; b[0] = v; }")
              .find("`v` does not survive") == 0);
    CHECK(refusal("for i in 0u..n { b[0] = i; grid_barrier; b[1] = i; }") == "");
    CHECK(refusal("let q = global_id.x; for i in 0u..n { b[q] = i; grid_barrier; }")
              .find("`q` does not survive") == 0);
    CHECK(refusal("for i in 0u..n { for j in 0u..i { grid_barrier; } grid_barrier; }") == "");
    CHECK(refusal("for i in 0u..n { let q = global_id.x; grid_barrier; b[q] = 1u; }")
              .find("`q` does not survive") == 0);
    CHECK(refusal("if n == 1u { grid_barrier; }").find("is inside this `if`") != std::string::npos);
    CHECK(refusal("while n == 1u { grid_barrier; }").find("is inside this `while`") !=
          std::string::npos);
    CHECK(refusal("if n == 1u { return; } grid_barrier;").find("above the last") !=
          std::string::npos);
    CHECK(refusal("grid_barrier; if n == 1u { return; }") == "");
    CHECK(
        refusal("for i in 0u..n { grid_barrier; if n == 1u { trap 1; } }").find("above the last") !=
        std::string::npos);
    CHECK(refusal("for i in 0u..n { grid_barrier; if n == 1u { break; } }").find("leaves a loop") !=
          std::string::npos);
    CHECK(refusal("for i in 0u..n { grid_barrier; for j in 0u..n { break; } }") == "");
}

TEST_CASE("long chains stay linear") {
    std::string body = "var a0 = 0u;";
    for (int k = 1; k < 20000; ++k) body += "var a" + std::to_string(k) + " = 0u;";
    body += "while n < 3u {";
    for (int k = 1; k < 20000; ++k)
        body += "a" + std::to_string(k - 1) + " = a" + std::to_string(k) + ";";
    body += "a19999 = local_index; } if a0 == 1u { barrier; }";
    CHECK(refusal(body).find("`a19999`, `a19998`, `a19997`, ... `a1`, `a0`, the `if`") !=
          std::string::npos);
}

}  // namespace test_uniformity
