// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/math_library.hpp"

#include <cassert>
#include <string>

#include "lower/math_text.hpp"
#include "program/text/text.hpp"
#include "wye/sdk/lasting.hpp"

namespace wye::lower {
namespace {

void forget_places(ir::Code& code) {
    for (ir::Expr& e : code.exprs) e.place = {};
    for (ir::Stmt& s : code.stmts) s.place = {};
    for (ir::Local& l : code.locals) l.place = {};
}

ir::Program parsed() {
    std::string text = "wye 1; program math_functions; workgroup 1;\n";
    for (const char* part : kMathText) text += part;
    ir::ParseResult result = ir::parse(text + "main { }\n");
    assert(result.ok());  // the text is a constant, and the tests validate it
    // Positions in this text would mean nothing to readers of messages, so they are removed.
    for (ir::Function& f : result.program.functions) {
        f.place = {};
        forget_places(f.code);
    }
    for (ir::Table& t : result.program.tables) t.place = {};
    return std::move(result.program);
}

}  // namespace

const ir::Program& math_library() {
    static const sdk::Lasting<const ir::Program> library(parsed);
    return *library;
}

}  // namespace wye::lower
