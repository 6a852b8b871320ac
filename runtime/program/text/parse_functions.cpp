// SPDX-License-Identifier: Apache-2.0
//
// Parses function declarations.
#include <fmt/core.h>

#include "program/text/parser.hpp"

namespace wye::ir::detail {

bool Parser::function() {
    Function function;
    Token given;
    if (token_.is(Key::MAIN)) {
        error(token_.place, "`main` is not declared as a function",
              "Fix: write `main { ... }`, without `fn` and `()`");
        return true;
    }
    if (!name("the function's name", given) || !expect(Tok::LeftParen, "(", "after the name"))
        return false;
    function.name = given.text;
    function.place = given.place;
    declare(given, Symbol::Kind::Function, program_.functions.size());
    code_ = &function.code;
    depths_.clear();
    const std::size_t mark = local_names_.size();
    bool good = true;
    while (good && !token_.is(Tok::RightParen)) {
        Token argument;
        Local local;
        local.form = Local::Form::Argument;
        good = type_first(argument, local.type) ||
               (name("an argument's name", argument) &&
                expect(Tok::Colon, ":", "after the argument's name") && type(local.type));
        if (!good) break;
        add_local(argument, std::move(local));
        ++function.arguments;
        if (token_.is(Tok::Comma)) {
            take();
        } else if (!token_.is(Tok::RightParen)) {
            unexpected("`,` or `)`", {});
            good = false;
        }
    }
    good = good && expect(Tok::RightParen, ")", "after the arguments");
    if (good && !token_.is(Tok::Arrow)) {
        unexpected("`->` and the result's type", "Fix: write `-> TYPE`; a function gives a value");
        good = false;
    }
    if (good) take();
    good = good && type(function.type) && expect(Tok::LeftBrace, "{", "before the function's body");
    if (good) function_body(function);
    close_scope(mark);
    code_ = nullptr;
    program_.functions.push_back(std::move(function));
    return good;
}

void Parser::function_body(Function& function) {
    in_function_ = true;
    function.code.root = static_cast<BlockId>(function.code.blocks.size());
    function.code.blocks.emplace_back();
    std::vector<StmtId> ids;
    statements(ids, 1, true);
    function.code.blocks[function.code.root] = std::move(ids);
    in_function_ = false;
    if (token_.is(Key::RETURN)) {
        take();
        function.code.result = expression();
        if (function.code.result == kNone || !expect_semicolon("the returned value"))
            skip_to_end(false);
    } else {
        error(token_.place, fmt::format("`{}` does not end with `return`", function.name),
              "Fix: end it with `return VALUE;`");
    }
    if (!token_.is(Tok::RightBrace) && !token_.is(Tok::End)) {
        error(token_.place, fmt::format("nothing may follow `return`, found {}", describe(token_)),
              "Fix: remove what follows, or move the return to the end");
        while (!token_.is(Tok::RightBrace) && !token_.is(Tok::End)) skip_to_end(false);
    }
    if (token_.is(Tok::End))
        unexpected("`}` after the function", {});
    else
        take();
}

}  // namespace wye::ir::detail
