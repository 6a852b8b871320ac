// SPDX-License-Identifier: Apache-2.0
//
// Parses the head of a program: everything above `main`.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "program/text/parser.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir::detail {

ParseResult Parser::run() {
    if (text_.size() > WYE_LIMIT_TEXT_BYTES) {
        error({},
              fmt::format("the text has {} bytes; the limit is {}", text_.size(),
                          WYE_LIMIT_TEXT_BYTES),
              "Fix: move constant data into buffers, or use the wire form");
        return {{}, errors_.take()};
    }
    if (const std::size_t bad = utf8_error(text_); bad != text_.size()) {
        const std::string_view before = text_.substr(0, bad);
        const std::size_t begin = before.rfind('\n') + 1;  // 0 if there is none
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const auto column =
            std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                          [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; });
        error({static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column + 1)},
              fmt::format("byte {} is not part of UTF-8 text",
                          static_cast<unsigned char>(text_[bad])),
              "Fix: save the file as UTF-8");
        return {{}, errors_.take()};
    }
    take();
    if (token_.is(Tok::End)) {
        error(token_.place, "the text holds no program",
              "Fix: begin with `wye 1;`, `program NAME;` and `workgroup SIZE;`");
        return {{}, errors_.take()};
    }
    if (!token_.is(Key::WYE)) foreign_text({});
    if (token_.is(Tok::Name)) {  // a program that lacks only its header begins with a keyword
        unexpected("`wye 1;`", "Fix: begin with `wye 1; program NAME; workgroup SIZE;`");
        skip_all();
        foreign_ = true;
    }
    if (!foreign_) header();
    if (!foreign_) heads();
    if (foreign_) return {{}, errors_.take()};
    body();
    order_buffers();
    lasting_lets();
    // The validator reports wrong types, but does not run on a text with errors. For such a text
    // the parser reports them.
    if (!errors_.empty())
        assign_types(program_, [this](const TypeProblem& t) { error(t.place, t.problem, t.fix); });
    ParseResult result{std::move(program_), errors_.take()};
    std::stable_sort(result.diagnostics.begin(), result.diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                         return a.place.line != b.place.line ? a.place.line < b.place.line
                                                             : a.place.column < b.place.column;
                     });
    return result;
}

void Parser::header() {
    if (!token_.is(Key::WYE)) {
        unexpected("`wye 1;`", "Fix: begin the text with `wye 1;`");
    } else {
        take();
        if (token_.is(Tok::Number) && token_.text == "1") {
            take();
            expect_semicolon("`wye 1`");
        } else {
            error(token_.place,
                  fmt::format("this parser reads version 1 of the language, not {}",
                              describe(token_)),
                  "Fix: write `wye 1;`");
            skip_to_end(true);
        }
    }
    if (token_.is(Tok::Name) && token_.text == kMathWord && !math_set() && !token_.is(Key::PROGRAM))
        skip_to_end(true);
    if (!token_.is(Key::PROGRAM)) {
        unexpected("`program NAME;`", "Fix: name the program, as in `program saxpy;`");
        return;
    }
    take();
    Token given;
    if (!name("the program's name", given)) {
        skip_to_end(true);
        return;
    }
    program_.name = given.text;
    if (!expect_semicolon("the program's name")) skip_to_end(true);
}

// "math" SET ";"
bool Parser::math_set() {
    take();
    for (std::uint32_t set = 1; set <= WYE_PROGRAM_NEWEST_MATH_SET; ++set) {
        if (!token_.is(Tok::Number) || token_.text != std::to_string(set)) continue;
        program_.math_set = set;
        take();
        lexer_.math_set(set);
        return expect_semicolon("the math set");
    }
    if (token_.is(Tok::Bad)) return false;
    error(token_.place,
          fmt::format("there is no math set {}; this version has the sets 1 to {}",
                      describe(token_), WYE_PROGRAM_NEWEST_MATH_SET),
          fmt::format("Fix: write `math {};`", WYE_PROGRAM_NEWEST_MATH_SET));
    return false;
}

void Parser::heads() {
    while (!token_.is(Key::MAIN) && !token_.is(Tok::End) && !errors_.full())
        if (!head()) skip_to_end(true);
}

bool Parser::head() {
    if (token_.is(Tok::Role)) {
        const auto role = static_cast<Role>(token_.code);
        take();
        return buffer(role);
    }
    if (token_.is(Tok::Keyword)) {
        const auto key = static_cast<Key>(token_.code);
        switch (key) {
            case Key::WORKGROUP:
                return take(), workgroup();
            case Key::SUBGROUP:
                return take(), subgroup();
            case Key::CONST:
                return take(), constant();
            case Key::PARAM:
                return take(), param();
            case Key::GRID:
                return take(), grid();
            case Key::TABLE:
                return take(), table();
            case Key::FN:
                return take(), function();
            case Key::VARIANT:
                return take(), variant();
            default:
                break;
        }
    }
    if (token_.is(Tok::Name) && token_.text == kMathWord && peek().is(Tok::Number)) {
        error(token_.place, "the math set comes before the program's name",
              fmt::format("Fix: write `math {};` directly after `wye 1;`", peek().text));
        return math_set();
    }
    if (token_.is(Tok::Bad) || token_.is(Tok::Name) || token_.is(Op::LT) ||
        token_.is(Tok::LeftBracket))
        if (foreign_text(token_.place)) return true;
    if (token_.is(Key::LET) || token_.is(Key::VAR)) {
        error(token_.place, fmt::format("{} is outside of `main` and functions", describe(token_)),
              "Fix: declare a value of the whole program with `const` or `param`");
        take();
        if (token_.is(Tok::Name)) {
            constants_.emplace_back();
            declare(token_, Symbol::Kind::Constant, constants_.size() - 1);
        }
        return false;
    }
    if (foreign_head()) return true;
    std::vector<std::string_view> words = {"workgroup", "subgroup", "const",   "param", "grid",
                                           "table",     "fn",       "variant", "main"};
    for (const std::string_view role : words_of(WordClass::Role)) words.push_back(role);
    const std::string_view near = nearest(token_.text, words);
    unexpected("a declaration or `main`",
               near.empty() ? "Fix: begin with `param`, a buffer role, `fn`, `main` or the like"
                            : fmt::format("Fix: write `{}`", near));
    return false;
}

// ---- declarations -------------------------------------------------------------------------

bool Parser::workgroup() {
    const Token at = last_;
    workgroup_place_ = at.place;
    if (seen_workgroup_)
        error(at.place, "the workgroup size is already given", "Fix: remove this line");
    seen_workgroup_ = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (!num32("a workgroup axis", 1, program_.workgroup[axis])) return false;
        if (!token_.is(Tok::Comma)) break;
        if (axis == 2) {
            error(token_.place, "a workgroup has at most 3 axes", "Fix: remove this number");
            return false;
        }
        take();
    }
    if (token_.is(Key::ADJUSTABLE)) {
        program_.adjustable = true;
        take();
    }
    return expect_semicolon("the workgroup size");
}

bool Parser::subgroup() {
    subgroup_place_ = last_.place;
    if (seen_subgroup_)
        error(last_.place, "the subgroup size is already given", "Fix: remove this line");
    seen_subgroup_ = true;
    return num32("the subgroup size", 1, program_.subgroup) &&
           expect_semicolon("the subgroup size");
}

// Reports the type in `const N: u32 = 4;`: only the literal gives a constant its type.
void Parser::constant_type(std::string_view given) {
    const Place place = token_.place;
    take();
    const Type meant = token_.is(Tok::Type) ? type_from_code(token_.code).value_or(Type{})
                                            : foreign_type(token_.text);
    if (!token_.is(Tok::Assign)) take();
    std::string value(token_.is(Tok::Assign) && peek().is(Tok::Number) ? peek().text : "...");
    if (value.find_first_not_of("0123456789.") == std::string::npos && value != "...") {
        if (meant.floating() && value.find('.') == std::string::npos) value += ".0";
        if (meant == kU32)
            value += 'u';
        else if (!meant.none() && meant != kI32 && meant != kF32)
            value += type_name(meant);
    }
    error(place, "a constant has no type of its own",
          fmt::format("Fix: write `const {} = {};`", given, value));
}

bool Parser::constant() {
    Token given;
    const bool typed =
        (token_.is(Tok::Type) || !foreign_type(token_.text).none()) && peek().is(Tok::Name);
    if (typed) {
        const Place place = token_.place;
        take();
        error(place, "a constant has no type of its own",
              fmt::format("Fix: write `const {} = ...;`", token_.text));
    }
    if (!name("the constant's name", given)) return false;
    if (token_.is(Tok::Colon) && !typed) constant_type(given.text);
    if (!expect(Tok::Assign, "=", "after the name")) return false;
    const std::optional<LiteralValue> value = literal();
    constants_.push_back(value.value_or(LiteralValue{}));
    declare(given, Symbol::Kind::Constant, constants_.size() - 1);
    if (value && !token_.is(Tok::Semicolon) && !starts_line()) {
        error(token_.place,
              fmt::format("a constant is one literal, found {} after it", describe(token_)),
              "Fix: write the value itself");
        return false;
    }
    return value && expect_semicolon("the constant");
}

bool Parser::param() {
    Param param;
    Token given;
    bool good = type_first(given, param.type);
    if (!good) {
        if (!name("the parameter's name", given)) return false;
        good = expect(Tok::Colon, ":", "after the name") && type(param.type);
    }
    param.name = given.text;
    param.place = given.place;
    program_.params.push_back(std::move(param));
    declare(given, Symbol::Kind::Param, program_.params.size() - 1);
    return good && expect_semicolon("the parameter");
}

bool Parser::table() {
    Table table;
    Token given;
    std::uint64_t count = 0;
    if (!name("the table's name", given)) return false;
    table.name = given.text;
    table.place = given.place;
    const std::size_t index = program_.tables.size();
    program_.tables.push_back(table);  // it has no type until it is read completely
    declare(given, Symbol::Kind::Table, index);
    if (!expect(Tok::Colon, ":", "after the name") || !type(table.type) ||
        !expect(Tok::LeftBracket, "[", "before the table's count") ||
        !num("the table's count", count) || !expect(Tok::RightBracket, "]", "after the count") ||
        !expect(Tok::Assign, "=", "before the elements") ||
        !expect(Tok::LeftBrace, "{", "before the elements"))
        return false;
    while (!token_.is(Tok::RightBrace)) {
        const Place place = token_.place;
        const std::optional<LiteralValue> value = literal();
        if (!value) return false;
        if (value->type != table.type && !table.type.none() && !value->type.none())
            error(place,
                  fmt::format("an element of `{}` is {}, not {}", table.name, type_name(table.type),
                              type_name(value->type)),
                  fmt::format("Fix: write a literal of type {}", type_name(table.type)));
        table.bits.push_back(value->bits);
        if (token_.is(Tok::Comma)) {
            take();
        } else if (!token_.is(Tok::RightBrace)) {
            unexpected("`,` or `}`", {});
            return false;
        }
    }
    const Place end = token_.place;
    take();
    if (table.bits.size() != count)
        error(end,
              fmt::format("`{}` has {} elements, but {} are given", table.name, count,
                          table.bits.size()),
              fmt::format("Fix: write `[{}]`, or correct the list", table.bits.size()));
    program_.tables[index] = std::move(table);
    return expect_semicolon("the table");
}

// Whether a path is absolute or has a part "..".
static bool leads_out(std::string_view path) {
    if (path.starts_with('/')) return true;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (path.substr(0, end) == "..") return true;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return false;
}

bool Parser::program_string(std::string_view what, std::string& out) {
    if (!token_.is(Tok::String)) {
        unexpected(what, "Fix: write it between `\"` marks");
        return false;
    }
    out = unescape(token_.text);
    take();
    return true;
}

bool Parser::variant() {
    Variant variant;
    variant.place = last_.place;
    if (!program_string("the variant's format", variant.format)) return false;
    if (!token_.is(Key::ENTRY)) {
        unexpected("`entry`", "Fix: name the kernel, as in `entry \"saxpy\"`");
        return false;
    }
    take();
    if (!program_string("the entry's name", variant.entry)) return false;
    if (token_.is(Key::FOR)) {
        take();
        if (!program_string("the device filter", variant.filter)) return false;
    }
    if (token_.is(Key::FILE)) {
        take();
        variant.file.emplace();
        const Place named = token_.place;
        if (!program_string("the file's name", *variant.file)) return false;
        if (leads_out(*variant.file))
            error(named,
                  fmt::format("the file `{}` leads out of the program's folder", *variant.file),
                  "Fix: name a file in that folder or below it, without `..`");
    } else if (token_.is(Key::TEXT)) {
        take();
        if (!token_.is(Tok::Raw)) {
            unexpected("the code between \"\"\" marks", "Fix: write \"\"\" before and after it");
            return false;
        }
        const auto* bytes = reinterpret_cast<const std::byte*>(token_.text.data());
        variant.bytes.assign(bytes, bytes + token_.text.size());
        take();
    } else {
        unexpected("`file` or `text`",
                   "Fix: give the code, as in `file \"kernel.cu\"` or `text \"\"\"...\"\"\"`");
        return false;
    }
    program_.variants.push_back(std::move(variant));
    return expect_semicolon("the variant");
}

// Checks rules of the validator that concern the workgroup. They are checked here because the
// program keeps no places for these lines.
void Parser::launch_shape() {
    std::uint64_t product = 1;
    for (const std::uint32_t axis : program_.workgroup)
        product = std::min<std::uint64_t>(product * axis, std::uint64_t{1} << 40);
    if (product > WYE_LIMIT_WORKGROUP)
        error(workgroup_place_,
              fmt::format("the workgroup has more than {} invocations (x * y * z is {})",
                          WYE_LIMIT_WORKGROUP, product),
              "Fix: use a smaller workgroup and more of them");
    const std::uint32_t width = program_.subgroup;
    if (width == 0) return;
    if (!std::has_single_bit(width) || width < 4 || width > 128)
        error(subgroup_place_,
              fmt::format("the subgroup size is {}, not a power of two from 4 to 128", width),
              "Fix: write 4, 8, 16, 32, 64 or 128");
    else if (product % width != 0)
        error(
            subgroup_place_,
            fmt::format(
                "the workgroup has {} invocations, which is not a multiple of the subgroup size {}",
                product, width),
            fmt::format("Fix: make the workgroup a multiple of {}", width));
}

void Parser::body() {
    if (!seen_workgroup_)
        error(token_.place, "the program has no `workgroup`",
              "Fix: write its size above `main`, as in `workgroup 64;`");
    launch_shape();
    if (!token_.is(Key::MAIN)) {
        if (!errors_.full()) unexpected("`main`", "Fix: end the program with `main { ... }`");
        return;
    }
    take();
    if (token_.is(Tok::LeftParen)) {
        if (errors_.empty())
            error(token_.place, "`main` takes no arguments", "Fix: write `main { ... }`");
        skip_group();
    }
    code_ = &program_.main;
    depths_.clear();
    program_.main.root = block(1);
    code_ = nullptr;
    if (program_.main.root != kNone && !token_.is(Tok::End))
        error(token_.place, fmt::format("nothing may follow `main`, found {}", describe(token_)),
              "Fix: move declarations above `main`; check the braces");
}

}  // namespace wye::ir::detail
