// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the tests of text, rules and analyses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/check/validate.hpp"
#include "program/text/text.hpp"

namespace test {

// A program around a body, with declarations of every kind that bodies use.
inline std::string around(std::string_view body, std::string_view heads = {}) {
    return "wye 1; program t; workgroup 64;\n"
           "param a: f32; param n: u32; param m: i64; param d: f64;\n"
           "input x: f32[]; input w: u8[]; output r: u32[]; input_output b: u32[];\n"
           "shared s: u32[64]; uniform k: f32x4[4]; output h: f16[8];\n" +
           std::string(heads) + "\nmain {\n" + std::string(body) + "\n}\n";
}
inline constexpr unsigned kBodyLine = 7;  // number of the first line of `body`; `heads`: one line

inline std::vector<wye::ir::Diagnostic> problems(std::string_view text) {
    wye::ir::ParseResult result = wye::ir::parse(text);
    if (!result.ok()) return result.diagnostics;
    return wye::ir::validate(result.program);
}

inline std::string shown(const std::vector<wye::ir::Diagnostic>& list, std::string_view text) {
    std::string out;
    for (const auto& d : list) out += wye::ir::render(d, "t", text);
    return out;
}

}  // namespace test
