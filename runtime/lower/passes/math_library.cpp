// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/math_library.hpp"

#include <cassert>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "lower/math_text.hpp"
#include "lower/passes/in_words.hpp"
#include "program/text/text.hpp"
#include "wye/sdk/lasting.hpp"

namespace wye::lower {
namespace {

void forget_places(ir::Code& code) {
    for (ir::Expr& e : code.exprs) e.place = {};
    for (ir::Stmt& s : code.stmts) s.place = {};
    for (ir::Local& l : code.locals) l.place = {};
}

ir::Program parsed(std::span<const char* const> parts) {
    std::string text = "wye 1; program math_functions; workgroup 1;\n";
    for (const char* part : parts) text += part;
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
    static const sdk::Lasting<const ir::Program> library([] { return parsed(kMathText); });
    return *library;
}

const ir::Program& math_library_with_pairs() {
    static const sdk::Lasting<const ir::Program> library([] {
        std::vector<const char*> parts(std::begin(kMathText), std::end(kMathText));
        parts.push_back(kPairsText);
        return parsed(parts);
    });
    return *library;
}

const ir::Program& math_library_in_words() {
    static const sdk::Lasting<const ir::Program> library([] {
        return in_words(parsed({&kWordsText, 1}), math_library_with_pairs());
    });
    return *library;
}

}  // namespace wye::lower
