// SPDX-License-Identifier: Apache-2.0
//
// Parses buffers, size expressions and the grid clause.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "program/analysis/analysis.hpp"
#include "program/text/parser.hpp"

namespace wye::ir::detail {

bool Parser::buffer(Role role) {
    Buffer buffer;
    buffer.role = role;
    Token given;
    bool good = type_first(given, buffer.type);
    if (!good) {
        if (!name("the buffer's name", given)) return false;
        good = expect(Tok::Colon, ":", "after the name") && type(buffer.type);
    }
    buffer.name = given.text;
    buffer.place = given.place;
    bool bound = false;
    good = good && expect(Tok::LeftBracket, "[", "before the buffer's count") && counted(buffer) &&
           expect(Tok::RightBracket, "]", "after the count") && attributes(buffer, bound);
    // The buffer is declared even after an error, so that its uses are not reported.
    if (!bound) buffer.binding = next_binding_;
    next_binding_ = buffer.binding + 1;
    program_.buffers.push_back(std::move(buffer));
    declare(given, Symbol::Kind::Buffer, program_.buffers.size() - 1);
    return good && expect_semicolon("the buffer");
}

bool Parser::counted(Buffer& buffer) {
    if (token_.is(Tok::RightBracket)) return true;
    const Place place = token_.place;
    if (!size(buffer.size)) {
        buffer.size.clear();
        return false;
    }
    count(buffer, place);
    return true;
}

// Parses a count. A size made of numbers alone becomes a literal count.
void Parser::count(Buffer& buffer, Place place) {
    buffer.count_kind = Buffer::Count::Computed;
    const bool computed = std::any_of(buffer.size.begin(), buffer.size.end(), [](auto& node) {
        return node.op == WYE_SIZE_PARAM || node.op == WYE_SIZE_LEN;
    });
    if (computed) return;
    buffer.count_kind = Buffer::Count::Literal;
    const auto value = evaluate_size(buffer.size, program_, {}, {}, "the count");
    if (value.ok())
        buffer.count = *value;
    else
        error(place, value.error().message, value.error().fix);
    buffer.size.clear();
}

bool Parser::attributes(Buffer& buffer, bool& bound) {
    std::array<bool, 4> hinted{};  // by enum HintWord: whether the buffer has the hint
    for (;;) {
        const Token at = token_;
        const auto twice = [&](bool given) {
            if (given)
                error(at.place, fmt::format("{} is given twice", describe(at)),
                      "Fix: keep one of them");
        };
        if (token_.is(Key::BINDING)) {
            take();
            twice(bound);
            bound = true;
            if (!num32("the binding", 0, buffer.binding)) return false;
        } else if (token_.is(Key::ALIGN)) {
            take();
            twice(buffer.align != 0);
            if (!num32("the alignment", 1, buffer.align)) return false;
        } else if (token_.is(Key::BYTES)) {
            take();
            twice(buffer.bytes.has_value());
            buffer.bytes.emplace();
            if (!num("the first byte", (*buffer.bytes)[0])) return false;
            if (!expect(Tok::DotDot, "..", "between the first byte and the end") ||
                !num("the end of the bytes", (*buffer.bytes)[1]))
                return false;
        } else if (token_.is(Key::LIVE)) {
            take();
            twice(buffer.live);
            buffer.live = true;
        } else if (token_.is(Key::UNSET)) {
            take();
            twice(buffer.unset);
            buffer.unset = true;
        } else if (const HintWord word =
                       token_.is(Tok::Name) ? hint_word(token_.text) : HintWord::None;
                   word != HintWord::None) {
            take();
            bool& given = hinted[static_cast<std::size_t>(word)];
            twice(given);
            given = true;
            if (!hint(word, buffer.hints)) return false;
        } else {
            break;
        }
    }
    if (token_.is(Tok::Semicolon) || starts_line()) return true;
    unexpected(
        "`;` or an attribute",
        "Fix: the attributes are `binding`, `align`, `bytes`, `live`, `unset`, and the hints "
        "`coalesce`, `prefer_align` and `locality`");
    return false;
}

// Parses the rest of a hint after its first word.
bool Parser::hint(HintWord word, Hints& out) {
    if (word == HintWord::COALESCE) return coalesce(out);
    if (word == HintWord::LOCALITY) return locality(out);
    return num32("the preferred alignment", 1, out.prefer_align);
}

bool Parser::coalesce(Hints& out) {
    for (std::uint8_t axis = 1; axis <= 3; ++axis) {
        if (!token_.is(Tok::Name) || token_.text != Hints{axis}.coalesce_axis()) continue;
        out.coalesce = axis;
        take();
        return true;
    }
    unexpected("an axis of the grid (`x`, `y` or `z`)", "Fix: write `x`, `y` or `z`");
    return false;
}

bool Parser::locality(Hints& out) {
    for (std::uint8_t code = 0; code < WYE_LOCALITY_FIRST_FREE; ++code) {
        const auto locality = static_cast<Locality>(code);
        if (!token_.is(Tok::Name) || token_.text != locality_name(locality)) continue;
        out.locality = locality;
        take();
        return true;
    }
    unexpected("a locality", "Fix: write `streaming`, `temporal` or `unspecified`");
    return false;
}

bool Parser::grid() {
    if (seen_grid_) error(last_.place, "the grid is already given", "Fix: remove this line");
    seen_grid_ = true;
    if (token_.is(Key::ELEMENTS) || token_.is(Key::GROUPS)) {
        program_.grid.kind = token_.is(Key::ELEMENTS) ? WYE_GRID_ELEMENTS : WYE_GRID_GROUPS;
        take();
    } else {
        unexpected("`elements` or `groups`",
                   "Fix: write `grid elements COUNT;` or `grid groups COUNT;`");
        return false;
    }
    program_.grid.axes.clear();
    for (;;) {
        SizeExpr axis;
        if (program_.grid.axes.size() == 3) {
            error(token_.place, "a grid has at most 3 axes", "Fix: remove this size");
            return false;
        }
        if (!size(axis)) return false;
        program_.grid.axes.push_back(std::move(axis));
        if (!token_.is(Tok::Comma)) break;
        take();
    }
    return expect_semicolon("the grid");
}

// ---- size expressions, in prefix order ------------------------------------------------------

bool Parser::size(SizeExpr& out) {
    unsigned depth = 0;
    return size_sum(out, depth);
}

// Replaces `out` by op(out, right).
bool Parser::size_join(std::uint8_t op, SizeExpr& out, const SizeExpr& right, unsigned& depth,
                       unsigned right_depth) {
    depth = std::max(depth, right_depth) + 1;
    if (depth > WYE_LIMIT_EXPRESSION_DEPTH) {
        error(token_.place,
              fmt::format("this size is deeper than {} operations", WYE_LIMIT_EXPRESSION_DEPTH),
              "Fix: compute part of it on the host, and pass it as a parameter");
        return false;
    }
    out.insert(out.begin(), SizeNode{op, 0, 0});
    out.insert(out.end(), right.begin(), right.end());
    return true;
}

bool Parser::size_sum(SizeExpr& out, unsigned& depth) {
    if (!size_product(out, depth)) return false;
    while (token_.is(Op::ADD) || token_.is(Op::SUB)) {
        const std::uint8_t op = token_.is(Op::ADD) ? WYE_SIZE_ADD : WYE_SIZE_SUB;
        take();
        SizeExpr right;
        unsigned right_depth = 0;
        if (!size_product(right, right_depth) || !size_join(op, out, right, depth, right_depth))
            return false;
    }
    return true;
}

bool Parser::size_product(SizeExpr& out, unsigned& depth) {
    if (!size_primary(out, depth)) return false;
    while (token_.is(Op::MUL) || token_.is(Op::DIV)) {
        const std::uint8_t op = token_.is(Op::MUL) ? WYE_SIZE_MUL : WYE_SIZE_DIV;
        take();
        SizeExpr right;
        unsigned right_depth = 0;
        if (!size_primary(right, right_depth) || !size_join(op, out, right, depth, right_depth))
            return false;
    }
    return true;
}

bool Parser::size_primary(SizeExpr& out, unsigned& depth) {
    depth = 1;
    if (token_.is(Tok::LeftParen)) {
        if (!deeper(token_.place)) return false;
        take();
        const bool good = size_sum(out, depth) && expect(Tok::RightParen, ")", "after the size");
        --depth_;
        return good;
    }
    if (token_.is(Key::LEN64)) {
        error(token_.place, "a size uses `len`, which is exact there", "Fix: write `len`");
        take();
        return size_len(out);
    }
    if (token_.is(Key::LEN)) {
        take();
        return size_len(out);
    }
    SizeNode node{WYE_SIZE_LITERAL, 0, 0};
    const Symbol* symbol = token_.is(Tok::Name) ? find(token_.text) : nullptr;
    if (symbol != nullptr && symbol->kind == Symbol::Kind::Param) {
        const Param& param = program_.params[symbol->index];
        if (!param.type.none() && !(param.type.integer() && param.type.scalar()))
            error(token_.place,
                  fmt::format("a size is made of integers, but `{}` is {}", param.name,
                              type_name(param.type)),
                  "Fix: use an integer parameter");
        node.op = WYE_SIZE_PARAM;
        node.index = static_cast<std::uint16_t>(symbol->index);
        take();
    } else if (symbol != nullptr &&
               (symbol->kind == Symbol::Kind::Buffer || symbol->kind == Symbol::Kind::Table)) {
        error(token_.place, fmt::format("{} is an array, not a size", describe(token_)),
              fmt::format("Fix: write `len({})`", token_.text));
        take();
    } else if (!num("a size", node.literal)) {
        return false;
    }
    out.push_back(node);
    return true;
}

bool Parser::size_len(SizeExpr& out) {
    if (!expect(Tok::LeftParen, "(", "after `len`")) return false;
    if (!token_.is(Tok::Name)) {
        unexpected("a buffer's name", {});
        return false;
    }
    SizeNode node{WYE_SIZE_LEN, 0, 0};
    const Symbol* symbol = find(token_.text);
    if (symbol == nullptr) {
        unknown(token_, "buffer");
    } else if (symbol->kind != Symbol::Kind::Buffer) {
        error(token_.place,
              fmt::format("`len` in a size takes a buffer, but {} is {}", describe(token_),
                          article(*symbol)),
              symbol->kind == Symbol::Kind::Table
                  ? fmt::format("Fix: write its count, {}",
                                program_.tables[symbol->index].bits.size())
                  : "Fix: name a buffer that is declared above");
    } else {
        if (program_.buffers[symbol->index].count_kind == Buffer::Count::Computed)
            error(token_.place,
                  fmt::format("a size cannot use the length of {}, which is computed itself",
                              describe(token_)),
                  "Fix: write the expression that gives that length");
        node.index = static_cast<std::uint16_t>(symbol->index);
    }
    take();
    out.push_back(node);
    return expect(Tok::RightParen, ")", "after the buffer's name");
}

// ---- order --------------------------------------------------------------------------------

// Sorts buffers by binding and renumbers all indices to them.
void Parser::order_buffers() {
    auto& buffers = program_.buffers;
    const auto by_binding = [](const Buffer& a, const Buffer& b) { return a.binding < b.binding; };
    if (std::is_sorted(buffers.begin(), buffers.end(), by_binding)) return;
    std::vector<std::uint16_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
        return by_binding(buffers[a], buffers[b]);
    });
    std::vector<std::uint16_t> now(buffers.size());
    std::vector<Buffer> sorted;
    sorted.reserve(buffers.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        now[order[k]] = static_cast<std::uint16_t>(k);
        sorted.push_back(std::move(buffers[order[k]]));
    }
    buffers = std::move(sorted);
    const auto renumber_size = [&now](SizeExpr& size) {
        for (SizeNode& node : size)
            if (node.op == WYE_SIZE_LEN && node.index < now.size()) node.index = now[node.index];
    };
    for (Buffer& buffer : buffers) renumber_size(buffer.size);
    for (SizeExpr& axis : program_.grid.axes) renumber_size(axis);
    const auto renumber = [&now](Code& code) {
        for (Expr& e : code.exprs)
            if (e.op == Op::LOAD || e.op == Op::LEN || e.op == Op::LEN64 || op_atomic(e.op) ||
                e.op == Op::WORKGROUP_UNIFORM_LOAD)
                e.imm = now[e.imm];
        for (Stmt& s : code.stmts)
            if (s.op == Op::STORE) s.imm = now[s.imm];
    };
    for (Function& function : program_.functions) renumber(function.code);
    renumber(program_.main);
}

}  // namespace wye::ir::detail
