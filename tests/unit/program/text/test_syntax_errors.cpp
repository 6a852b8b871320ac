// SPDX-License-Identifier: Apache-2.0
//
// Each syntax and name error: its location, message and remedy.
#include <doctest/doctest.h>

#include "text_helpers.hpp"

namespace test_syntax_errors {

using namespace wye::ir;

namespace {

struct Row {
    const char* text;
    Place place;
    const char* message;
    const char* fix;
};

void check(const std::string& text, const Row& row) {
    const ParseResult result = parse(text);
    CAPTURE(std::string(row.text));
    REQUIRE(!result.diagnostics.empty());
    const Diagnostic& d = result.diagnostics[0];
    CAPTURE(test::shown(result.diagnostics, text));
    CHECK(result.diagnostics.size() == 1);  // one mistake, one report
    CHECK(d.place.line == row.place.line);
    CHECK(d.place.column == row.place.column);
    CHECK(d.message.find(row.message) != std::string::npos);
    CHECK(d.fix.rfind("Fix: ", 0) == 0);
    CHECK(d.fix.find(row.fix) != std::string::npos);
}

}  // namespace

TEST_CASE("errors in main") {
    // Columns count from the first character of the row's text.
    const Row rows[] = {
        {"let q = n + ;", {0, 13}, "expected an expression, found `;`", "value"},
        {"let q = n", {0, 10}, "expected `;` after the value", "`;`"},
        {"let q = (n;", {0, 11}, "expected `)`", "`)`"},
        {"let q = b[n;", {0, 12}, "expected `]`", "`]`"},
        {"let q = unheard;", {0, 9}, "there is no name `unheard`", "declare it above"},
        {"let q = num_workgroup.x;", {0, 9}, "`num_workgroup`", "`num_workgroups`"},
        {"let q = sqtr(a);", {0, 9}, "no function `sqtr`", "`sqrt`"},
        {"let q = b;", {0, 9}, "`b` is a buffer, not a value", "b[i]"},
        {"let q = n[0];", {0, 9}, "`n` is a parameter, not an array", "without an index"},
        {"let q = n(0);", {0, 9}, "not a function", "call a function"},
        {"let q = fma(a, a);", {0, 9}, "`fma` takes 3 values, got 2", "as many"},
        {"let q = f32x4(a, a);", {0, 9}, "one for each of its 4 components, got 2", "component"},
        {"let q = f32(a, a);", {0, 9}, "`f32` takes one value, got 2", ""},
        {"let q = k[0].xy;", {0, 14}, "found `xy`", "one component at a time"},
        {"let q = k[0].q;", {0, 14}, "expected a component", "`.x`"},
        {"let q = k[0][1];", {0, 13}, "one index", "row * width"},
        {"let q = 1 < 2 < 3;", {0, 15}, "not chained", "&&"},
        {"let q = 1 + atomic_add(b[0], 1u);", {0, 13}, "is an effect", "bind it first"},
        {"let q = atomic_add(b[0], 1u) + 1u;",
         {0, 9},
         "cannot be part of an expression",
         "bind it first"},
        {"let q = atomic_add(n, 1u);", {0, 20}, "takes an element of a buffer", ""},
        {"let q = atomic_cas(b[0], 1u);", {0, 9}, "takes 3 operands, got 2", "expected, new"},
        {"let q = len(n);", {0, 13}, "not an array", "buffer"},
        {"let q = +1;", {0, 9}, "no prefix `+`", "leave it out"},
        {"let q = -1u;", {0, 9}, "cannot be negative", "0u"},
        {"let q = 3000000000;", {0, 9}, "outside the range of i32", "`u`"},
        {"let q = 1e39;", {0, 9}, "largest finite f32", "inf_f32"},
        {"let q = 1.5f;", {0, 9}, "`f` is not a suffix", "write `1.5`"},
        {"let q: i32 = n;", {0, 14}, "`q` is declared i32, but its value is u32", "i32(...)"},
        {"let q: float = a;", {0, 8}, "`float` is not a type", "`f32`"},
        {"let q: u33 = n;", {0, 8}, "`u33` is not a type", "`u3"},
        {"let if = 1;", {0, 5}, "`if` is a reserved word", "another name"},
        {"let n = 1;", {0, 5}, "already declared at 2:21, as a parameter", "never hides"},
        {"let q = 1; let q = 2;", {0, 16}, "already declared at 7:5, as a let", "another name"},
        {"let y = 1", {0, 10}, "expected `;`", ""},
        {"var q;", {0, 6}, "has a value or a type", "var q: TYPE;"},
        {"let q;", {0, 6}, "has a value", "let q = ...;"},
        {"var q: u32[0];", {0, 12}, "0 elements", "change the count"},
        {"var q: u32[4] = 1;", {0, 15}, "starts at zero", "remove the value"},
        {"b[0].x = 1u;", {0, 5}, "whole element", "whole vector"},
        {"b[0] += 1u;", {0, 6}, "on a `var` only", "write `b[0] = b[0] + 1u;`"},
        {"b[0] *= n + 1u;", {0, 6}, "on a `var` only", "write `b[0] = b[0] * (n + 1u);`"},
        {"b = 1u;", {0, 1}, "one element is assigned at a time", "b[i]"},
        {"n = 1u;", {0, 1}, "a parameter, which cannot be assigned", "`var`"},
        {"q = 1u;", {0, 1}, "there is no name `q`", ""},
        {"b[0]++;", {0, 5}, "there is no `++`", "write `b[0] = b[0] + 1u;`"},
        {"f32 q = 1.0; r[0] = u32(q);", {0, 1}, "begins with `let` or `var`", "let q: f32 = 1.0;"},
        {"sqrt(a);", {0, 1}, "not a statement", "let v"},
        {"{ let q = 1; }", {0, 1}, "a block is allowed only after", "braces"},
        {";", {0, 1}, "no empty statement", "remove"},
        {"else { }", {0, 1}, "`else` without `if`", "directly after"},
        {"if n = 1u { }", {0, 6}, "found `=`", "`==`"},
        {"if n == 1u let q = 1;", {0, 12}, "expected `{`", "`{`"},
        {"for i in 0 { }", {0, 12}, "expected `..`", ""},
        {"for i = 0..4 { }", {0, 7}, "expected `in`", "for NAME in"},
        {"trap 0;", {0, 6}, "outside of 1 to 65535", ""},
        {"trap 65536;", {0, 6}, "outside of 1 to 65535", ""},
        {"trap n;", {0, 6}, "`n` is a parameter", "const"},
        {"return n;", {0, 8}, "`main` returns no value", "store"},
        {"const Q = 1;", {0, 1}, "must be above `main`", "move it up"},
        {"let q = n ? 1 : 2;", {0, 11}, "`?` has no meaning", "select"},
        {"r[0] = n == 1u ? 2u : 3u;", {0, 16}, "`?` has no meaning", "select"},
        {"if n == 1u { let q = 1; } r[0] = q;", {0, 34}, "out of scope", "before that block"},
        {"let q = late;", {0, 9}, "there is no name `late`", ""},
        {"/* no */ let q = 1;", {0, 1}, "begins with `//`", "//"},
        {"let q = \x01 1;", {0, 9}, "byte 1", "remove"},
        {"let q = 1__0;", {0, 9}, "`_`", "remove"},
    };
    for (Row row : rows) {
        row.place.line = test::kBodyLine;
        check(test::around(row.text), row);
    }
}

TEST_CASE("errors in the head") {
    const Row rows[] = {
        {"", {1, 1}, "holds no program", "begin"},
        {"program p; workgroup 1; main { }", {1, 1}, "expected `wye 1;`", "begin"},
        {"wye 2; program p; workgroup 1; main { }", {1, 5}, "version 1", "wye 1;"},
        {"wye 1; program p; main { }", {1, 19}, "no `workgroup`", "workgroup 64"},
        {"wye 1; math 3; program p; workgroup 1; main { }",
         {1, 13},
         "no math set `3`; this version has the sets 1 to 2",
         "`math 2;`"},
        {"wye 1; math; program p; workgroup 1; main { }", {1, 12}, "no math set `;`", "`math 2;`"},
        {"wye 1; math 2 program p; workgroup 1; main { }", {1, 15}, "expected `;`", "`;`"},
        {"wye 1; program p; math 2; workgroup 1; main { let q = expm1(1.0); }",
         {1, 19},
         "before the program's name",
         "`math 2;` directly after `wye 1;`"},
        {"wye 1; math 2; program expm1; workgroup 1; main { }",
         {1, 24},
         "`expm1` is a reserved word",
         "`expm1_`"},
        {"wye 1; program p; workgroup 1; main { let q = expm1(1.0) + expm1(2.0); }",
         {1, 47},
         "`expm1` is a function of math set 2, and this program is of set 1",
         "`math 2;` directly after `wye 1;`"},
        {"wye 1; program p; workgroup 1; main { let q = exmp1(1.0); }", {1, 47}, "no function", ""},
        {"wye 1; program p; workgroup 0; main { }", {1, 29}, "is 0, outside of 1", "range"},
        {"wye 1; program p; workgroup 64, 65; main { }", {1, 19}, "x * y * z is 4160", "smaller"},
        {"wye 1; program p; workgroup 64; subgroup 12; main { }", {1, 33}, "power of two", "16"},
        {"wye 1; program p; workgroup 48; subgroup 32; main { }", {1, 33}, "not a multiple", "32"},
        {"wye 1; program p; workgroup 1; workgroup 1; main { }", {1, 32}, "already given", ""},
        {"wye 1; program p; workgroup 1; parm a: f32; main { }",
         {1, 32},
         "found `parm`",
         "`param`"},
        {"wye 1; program p; workgroup 1; input x: f32[4] rw; main { }",
         {1, 48},
         "attribute",
         "live"},
        {"wye 1; program p; workgroup 1; input x: f32[4] coalesced x; main { }",
         {1, 48},
         "found `coalesced`",
         "`coalesce`"},
        {"wye 1; program p; workgroup 1; input x: f32[4] coalesce w; main { }",
         {1, 57},
         "expected an axis of the grid",
         "`x`, `y` or `z`"},
        {"wye 1; program p; workgroup 1; input x: f32[4] locality often; main { }",
         {1, 57},
         "expected a locality, found `often`",
         "`streaming`"},
        {"wye 1; program p; workgroup 1; input x: f32[4] prefer_align 0; main { }",
         {1, 61},
         "the preferred alignment is 0, outside of 1",
         "range"},
        {"wye 1; program p; workgroup 1; input x: f32[4] locality temporal locality streaming; "
         "main { }",
         {1, 66},
         "`locality` is given twice",
         "keep one"},
        {"wye 1; program p; workgroup 1; input x: f32[q]; main { }", {1, 45}, "constant `q`", ""},
        {"wye 1; program p; workgroup 1; param q: f32; input x: f32[q]; main { }",
         {1, 59},
         "`q` is f32",
         "integer parameter"},
        {"wye 1; program p; workgroup 1; input y: f32[]; input x: f32[y]; main { }",
         {1, 61},
         "an array, not a size",
         "len(y)"},
        {"wye 1; program p; workgroup 1; input x: f32[2 - 3]; main { }",
         {1, 45},
         "negative: -1",
         ""},
        {"wye 1; program p; workgroup 1; input x: f32[1 / 0]; main { }", {1, 45}, "by zero", ""},
        {"wye 1; program p; workgroup 1; param n: u32; input y: u32[n]; input x: f32[len(y)]; main "
         "{ }",
         {1, 80},
         "computed itself",
         "expression"},
        {"wye 1; program p; workgroup 1; table t: u32[2] = { 1u }; main { }",
         {1, 55},
         "2 elements, but 1",
         "`[1]`"},
        {"wye 1; program p; workgroup 1; table t: u32[1] = { 1 }; main { }",
         {1, 52},
         "is u32, not i32",
         ""},
        {"wye 1; program p; workgroup 1; const A = 1 + 2; main { }", {1, 44}, "one literal", ""},
        {"wye 1; program p; workgroup 1; const A: u32 = 4; main { }",
         {1, 39},
         "no type of its own",
         "write `const A = 4u;`"},
        {"wye 1; program p; workgroup 1; const A: double = 4; main { }",
         {1, 39},
         "no type of its own",
         "write `const A = 4.0f64;`"},
        {"wye 1; program p; workgroup 1; grid 64; main { }", {1, 37}, "`elements` or `groups`", ""},
        {"wye 1; program p; workgroup 1; fn f() { return 1; } main { }", {1, 39}, "`->`", "TYPE"},
        {"wye 1; program p; workgroup 1; fn f() -> u32 { } main { }",
         {1, 48},
         "does not end with",
         "return"},
        {"wye 1; program p; workgroup 1; fn f() -> u32 { return f(); } main { }",
         {1, 55},
         "no recursion",
         "loop"},
        {"wye 1; program p; workgroup 1; fn f(a: u32) -> u32 { if a == 1u { return 1u; } return "
         "2u; } main { }",
         {1, 67},
         "one `return`, at its end",
         "var"},
        {"wye 1; program p; workgroup 1; fn f() -> u32 { return x[0]; } input x: u32[]; main { }",
         {1, 55},
         "before its declaration at 1:69",
         "move"},
        {"wye 1; program p; workgroup 1; variant \"a\" text \"\"\"x\"\"\"; main { }",
         {1, 44},
         "`entry`",
         ""},
        {"wye 1; program p; workgroup 1; variant \"a\n entry; main { }",
         {1, 40},
         "does not end on its line",
         ""},
        {"wye 1; program p; workgroup 1; main { } let", {1, 41}, "nothing may follow `main`", ""},
        {"wye 1; program p; workgroup 1; main {", {1, 38}, "expected `}`", "close"},
        {"wye 1; program p; workgroup 1; let a = 1; main { }",
         {1, 32},
         "outside of `main`",
         "const"},
        {"wye 1; program p; workgroup 1; // \xff\nmain { }", {1, 35}, "byte 255", "UTF-8"},
    };
    for (const Row& row : rows) check(row.text, row);
}

// Each form is reported once, whatever it declares and whatever follows it.
TEST_CASE("what people from other languages write first") {
    const Row rows[] = {
        {"do { b[0] = n; } while (n > 1u);",
         {0, 1},
         "no statement `do`",
         "write `while true { ... if !(n > 1u) { break; } }`"},
        {"loop { break; }", {0, 1}, "no statement `loop`", "write `while true { ... }`"},
        {"switch n { case 0u: { break; } default: {} }",
         {0, 1},
         "no statement `switch`",
         "else if x == 1"},
        {"for (int j = 0; j < 10; j++) { r[j] = 1u; }",
         {0, 1},
         "counts through a range",
         "write `for j in 0..10 { ... }`"},
        {"for (uint j = 0; j <= n; j += 2) { r[j] = 1u; }",
         {0, 1},
         "counts through a range",
         "write `for j in 0u..n + 1u step 2u { ... }`"},
        {"for (let j = 9; j >= 0; j--) { r[j] = 1u; }",
         {0, 1},
         "counts through a range",
         "write `for j in FIRST..END { ... }`, or a `while`"},
        {"for j in range(10) { r[j] = 1u; }",
         {0, 10},
         "no function `range`",
         "write `for i in 0..n"},
        {"for j in 0..=9 { r[j] = 1u; }", {0, 13}, "ends before its end", "LAST + 1"},
        {"float y = 3; let z = y * a;",
         {0, 1},
         "begins with `let` or `var`",
         "write `let y: f32 = 3.0;`, or `var` if it changes"},
        {"const uint q = 3, z = 4; r[q] = z;", {0, 1}, "begins with `let`", "let q: u32 = 3u;"},
        {"unsigned int q; q = n;", {0, 1}, "begins with `let`", "write `var q: u32;`"},
        {"unsigned long long q; q = u64(n);", {0, 1}, "begins with `let`", "write `var q: u64;`"},
        {"unsigned long q; q = u64(n);", {0, 1}, "begins with `let`", "write `var q: u64;`"},
        {"__shared__ float zz[64];",
         {0, 1},
         "begins with `let`",
         "declare `shared zz: f32[64];` above `main`"},
        {"groupshared float zz[64];",
         {0, 1},
         "begins with `let`",
         "declare `shared zz: f32[64];` above `main`"},
        {"int q[3] = {1, 2, 3};",
         {0, 1},
         "begins with `let`",
         "declare `table q: i32[3] = { ... };` with these values above `main`"},
        {"for (int q = 0, p = 1; q < 4; q++) { }",
         {0, 1},
         "a `for` counts",
         "write `for q in FIRST..END { ... }`"},
        {"for (float q = 0; q < 1.0; q += 0.1) { }",
         {0, 1},
         "of whole numbers",
         "write `for q in FIRST..END { ... }`, or a `while`"},
        {"for (size_t zz = 0; zz < x.size(); zz++) { }",
         {0, 1},
         "a `for` counts",
         "write `for zz in FIRST..END { ... }`"},
        {"float q[4] = {1, 2}; q[0] = a;", {0, 1}, "begins with `let`", "write `var q: f32[4];`"},
        {"auto q = n; r[0] = q;", {0, 1}, "begins with `let`", "write `let q = n;`"},
        {"q := n; r[0] = q;", {0, 1}, "begins with `let`", "let q = ...;"},
        {"float *p = x;", {0, 1}, "no pointers", "x[i]"},
        {"let mut q = n; q = 2u;", {0, 5}, "a `let` does not change", "write `var q = ...;`"},
        {"var<private> q = n; q = 2u;", {0, 4}, "no address space", "shared"},
        {"let q: array<f32, 4>; q[0] = a;", {0, 8}, "`array` is not a type", "var NAME: f32[4];"},
        {"var q: [f32; 4]; q[0] = a;", {0, 8}, "count comes after", "var NAME: f32[4];"},
        {"let q: vec4<u32> = k[0];", {0, 8}, "`vec4` is not a type", "write `u32x4`"},
        {"let step = 2u; r[step] = step;", {0, 5}, "is a reserved word", "step_"},
        {"const Q = 3u; r[0] = Q;", {0, 1}, "must be above `main`", "move it up"},
        {"let q = 2.f * a;", {0, 9}, "digits on both sides", "write `2.0`"},
        {"let q = 2. * a;", {0, 9}, "digits on both sides", "write `2.0`"},
        {"let q = .5 * a;", {0, 9}, "digits on both sides", "write `0.5`"},
        {"let q = 1e-3f * a;", {0, 9}, "not a suffix", "write `1e-3`"},
        {"let q = 0x1p3f * a;", {0, 9}, "not a suffix", "write `0x1p3`"},
        {"let q = n + 10U;", {0, 13}, "not a suffix", "write `10u`"},
        {"let q = m + 10L;", {0, 13}, "not a suffix", "write `10i64`"},
        {"let q = 10ULL;", {0, 9}, "not a suffix", "write `10u64`"},
        {"let q = 2f * a;", {0, 9}, "not a suffix", "write `2.0`"},
        {"var q = n; ++q;", {0, 12}, "there is no `++`", "write `q += 1u;`"},
        {"var q = a; q--;", {0, 13}, "there is no `--`", "write `q -= 1.0;`"},
        {"let q = n++;", {0, 11}, "there is no `++`", "statement of its own"},
        {"b[0] == 1u;", {0, 6}, "compares and does not assign", "write `b[0] = ...;`"},
        {"if (n > 1u) b[0] = 1u;", {0, 13}, "expected `{`", "between `{` and `}`"},
        {"if n > 1u and a > 1.0 { b[0] = 1u; }", {0, 11}, "no operator `and`", "write `&&`"},
        {"if not (n > 1u) { b[0] = 1u; }", {0, 4}, "no operator `not`", "write `!`"},
        {"if n > 1u { } elif n > 2u { b[0] = 1u; }", {0, 15}, "no statement `elif`", "else if"},
        {"let q = if n > 1u { 1u } else { 2u };", {0, 9}, "has no value", "select"},
        {"let q = 1u if n > 1u else 2u;", {0, 12}, "expected `;`", "select"},
        {"let q = threadIdx.x;", {0, 9}, "no name `threadIdx`", "write `local_id`"},
        {"let q = gl_GlobalInvocationID.x;", {0, 9}, "no name", "write `global_id`"},
        {"let q = global_invocation_id.x;", {0, 9}, "no name", "write `global_id`"},
        {"let q = blockIdx.x;", {0, 9}, "no name", "write `workgroup_id`"},
        {"let q = get_global_id(0);", {0, 9}, "no function", "write `global_id.x`"},
        {"__syncthreads();", {0, 1}, "no effect `__syncthreads`", "write `barrier;`"},
        {"barrier();", {0, 8}, "`barrier` takes no arguments", "write `barrier;`"},
        {"#include \"x.h\"", {0, 1}, "no preprocessor", "remove this line"},
        {"#define N 3", {0, 1}, "no preprocessor", "const N = 64;"},
        {"b[0] = n; # done", {0, 11}, "begins with `//`", "instead of `#`"},
        {"let q = (float)n;", {0, 10}, "written as a call", "write `f32(n)`"},
        {"let q = n as f32;", {0, 11}, "no operator `as`", "write `f32(x)`"},
        {"let q = float(n);", {0, 9}, "no type `float`", "write `f32(...)`"},
        {"let q = vec4<f32>(a, a, a, a);", {0, 9}, "no type `vec4`", "write `f32x4(...)`"},
        {"let q = vec3f(a, a, a);", {0, 9}, "no type `vec3f`", "write `f32x3(...)`"},
        {"let q = f32::MAX;", {0, 9}, "a type has no members", "inf_f32"},
        {"let q = std::sin(a);", {0, 9}, "no namespaces", "sin(x)"},
        {"let q = a ** 2.0;", {0, 11}, "no operator `**`", "write `pow(x, y)`"},
        {"let q = arrayLength(&b);", {0, 9}, "no function", "write `len(b)`"},
        {"let q = b.length();", {0, 9}, "not a value", "write `len(b)`"},
        {"let q = b[n, 0];", {0, 12}, "takes one index", "row * width"},
        {"let q = [1, 2, 3];", {0, 9}, "no lists", "table t"},
        {"let q = \"a\";", {0, 9}, "no strings", "number"},
        {"let q = 'a';", {0, 9}, "no character literals", "97"},
        {"let q = atomic_add(&b[0], 1u);", {0, 20}, "no pointers", "leave the `&` out"},
        {"let q = n // 2;", {0, 10}, "expected `;`", "begins a comment"},
        {"struct S { a: f32 }", {0, 1}, "no statement `struct`", "for each member"},
        {"goto end;", {0, 1}, "no statement `goto`", "loop"},
        {"end: b[0] = n;", {0, 1}, "no labels", "loops"},
    };
    for (Row row : rows) {
        row.place.line = test::kBodyLine;
        check(test::around(row.text), row);
    }
    const Row heads[] = {
        {"param float a; main { let q = a * 2.0; }", {1, 38}, "before its type", "write `a: f32`"},
        {"input float x[]; main { let q = x[0]; }", {1, 38}, "before its type", "write `x: f32`"},
        {"param a float; main { let q = a; }", {1, 40}, "expected `:`", "`:`"},
        {"const A = ; main { let q = A; }", {1, 42}, "a literal", ""},
        {"float a; main { let q = a; }", {1, 32}, "does not begin with its type", "param a: f32;"},
        {"fn f(float v) -> f32 { return v; } main { let q = f(1.0); }",
         {1, 37},
         "before its type",
         "write `v: f32`"},
        {"fn main() { }", {1, 35}, "not declared as a function", "write `main { ... }`"},
        {"void main() { }", {1, 32}, "`main` has no type", "write `main { ... }`"},
        {"struct S { float a; }; main { }", {1, 32}, "no declaration `struct`", "each member"},
        {"let a = 1; main { let q = a; }", {1, 32}, "outside of `main`", "const"},
    };
    for (const Row& row : heads)
        check(std::string("wye 1; program p; workgroup 1; ") + row.text, row);
}

TEST_CASE("a text of another language is one error") {
    const std::pair<const char*, const char*> texts[] = {
        {"@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
         "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) "
         "{\n  x[id.x] = 2.0;\n}\n",
         "this is WGSL"},
        {"#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer X { float x[]; };"
         "\nvoid main() { x[gl_GlobalInvocationID.x] *= 2.0; }\n",
         "this is GLSL"},
        {"#include <cuda_runtime.h>\n__global__ void f(int n, float* x) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] = 1;\n}\n",
         "this is CUDA C++"},
        {"__kernel void f(__global float* x) { x[get_global_id(0)] = 1; }", "this is OpenCL C"},
        {"#include <metal_stdlib>\nusing namespace metal;\nkernel void f(device float* a "
         "[[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = 1; }\n",
         "this is the Metal language"},
        {"RWStructuredBuffer<float> r : register(u0);\n[numthreads(64, 1, 1)]\n"
         "void main(uint3 id : SV_DispatchThreadID) { r[id.x] = 1; }\n",
         "this is HLSL"},
        {"void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }", "this is C,"},
        {"import numpy\ndef f(x): return x\n", "this is Python"},
    };
    for (const auto& [text, what] : texts) {
        check(text, {text, {1, 1}, what, "begin with `wye 1; program NAME;"});
        if (std::string(what).find("C,") == std::string::npos &&
            std::string(what).find("Python") == std::string::npos) {
            // The same, below the header of a Wye program.
            const std::string below = std::string("wye 1; program p; workgroup 64;\n") + text;
            CHECK(parse(below).diagnostics.size() == 1);
            CHECK(parse(below).diagnostics[0].message.find(what) == 0);
        }
    }
    check("hello world\n", {"hello", {1, 1}, "expected `wye 1;`", "begin"});
}

TEST_CASE("all mistakes are reported at once, each once") {
    const std::string text = test::around(
        "let q = n +;\n"
        "let z = unknown + 1;\n"
        "let y = q + unknown;\n"
        "z = 1\n"
        "if q == { let v = 1; }\n"
        "v = 2;");
    const ParseResult result = parse(text);
    std::vector<std::uint32_t> lines;
    for (const Diagnostic& d : result.diagnostics) lines.push_back(d.place.line - test::kBodyLine);
    CAPTURE(test::shown(result.diagnostics, text));
    CHECK(lines == std::vector<std::uint32_t>{0, 1, 3, 4, 5});
}

TEST_CASE("wrong types are reported beside wrong names and syntax") {
    const std::string text = test::around(
        "let q = 1 + 2.0;\n"
        "let t = unheard;\n"
        "let v = t + q + 1;\n"
        "if 3 { let inner = 1 }\n"
        "var u = 1u; u = 2;");
    const ParseResult result = parse(text);
    std::vector<std::uint32_t> lines;
    for (const Diagnostic& d : result.diagnostics) {
        lines.push_back(d.place.line - test::kBodyLine);
        CHECK(d.fix.rfind("Fix: ", 0) == 0);
    }
    CAPTURE(test::shown(result.diagnostics, text));
    CHECK(lines == std::vector<std::uint32_t>{0, 1, 3, 3, 4});
}

TEST_CASE("what a text repeats without end is an error, and no end of the stack") {
    const std::string head = "wye 1; program p; workgroup 1; output r: f32[1]; main { r[0] = ";
    for (const char* part : {"(float)", "(", "-", "!", "abs(", "f32x2(", "r[", "1.0 + (", "not ",
                             "*", "&", "if true { 1.0 } else "}) {
        CAPTURE(std::string(part));
        std::string text = head;
        for (int i = 0; i < 50'000; ++i) text += part;
        const ParseResult result = parse(text + "1.0; }");
        CHECK_FALSE(result.diagnostics.empty());
    }
}

TEST_CASE("a diagnostic renders with its line and a caret") {
    const std::string text = "wye 1;\nprogram p;\nworkgroup 1;\nmain {\n\tlet \xc3\xa9 = 1;\n}\n";
    const ParseResult result = parse(text);
    REQUIRE(!result.diagnostics.empty());
    CHECK(render(result.diagnostics[0], "p.wye", text)
              .rfind("p.wye:5:6: error: `\xc3\xa9` has no meaning here\n"
                     "\tlet \xc3\xa9 = 1;\n"
                     "\t    ^\n"
                     "Fix: ",
                     0) == 0);
    const ParseResult twice = parse("wye 1;\nprogram p;\n\xc3\xa9\xc3\xa9\xc3\xa8 main { }\n");
    REQUIRE(twice.diagnostics.size() >= 2);
    CHECK(twice.diagnostics[0].message == "`\xc3\xa9` has no meaning here");
    CHECK(twice.diagnostics[1].message == "`\xc3\xa8` has no meaning here");
    const std::string hidden =
        "wye 1;\nprogram p;\nworkgroup 1;\nmain {\n\tlet \u202e\x7f\u009b = 1;\n}\n";
    const ParseResult turned = parse(hidden);
    REQUIRE(!turned.diagnostics.empty());
    CHECK(render(turned.diagnostics[0], "p.wye", hidden)
              .rfind("p.wye:5:6: error: `\\xe2\\x80\\xae` has no meaning here\n"
                     "\tlet ??? = 1;\n"
                     "\t    ^\n",
                     0) == 0);
    const wye::Error error = to_error(wye::Code::INVALID_TEXT, result.diagnostics, "p.wye");
    CHECK(error.code == wye::Code::INVALID_TEXT);
    CHECK(error.message.rfind("p.wye:5:6: ", 0) == 0);
    CHECK(error.fix.rfind("Fix: ", 0) == 0);
    Diagnostic placeless;
    placeless.where = "main, statement 3";
    placeless.message = "m";
    placeless.fix = "Fix: f";
    CHECK(render(placeless, "p", "") == "p: main, statement 3: error: m\nFix: f\n");
}

}  // namespace test_syntax_errors
