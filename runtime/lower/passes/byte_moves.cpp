// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/byte_moves.hpp"

namespace wye::lower {
namespace {

using ir::Op;

constexpr unsigned kDepth = 8;

std::optional<std::uint32_t> literal(const ir::Code& code, ir::ExprId id) {
    const ir::Expr& e = code.exprs[id];
    if (e.op != Op::LITERAL) return std::nullopt;
    return static_cast<std::uint32_t>(e.extra);
}

// Shifts left by `count` bytes, 0 to 3, or rotates if `around`.
std::array<int, 4> raised(const std::array<int, 4>& from, unsigned count, bool around) {
    std::array<int, 4> out = {-1, -1, -1, -1};
    for (unsigned k = 0; k < 4; ++k)
        if (around || k + count < 4) out[(k + count) % 4] = from[k];
    return out;
}

std::array<int, 4> lowered(const std::array<int, 4>& from, unsigned count) {
    std::array<int, 4> out = {-1, -1, -1, -1};
    for (unsigned k = count; k < 4; ++k) out[k - count] = from[k];
    return out;
}

std::optional<ByteMoves> moves(const ir::Code& code, ir::ExprId id, unsigned depth);

std::optional<ByteMoves> joined(const ir::Code& code, ir::ExprId left, ir::ExprId right,
                                unsigned depth) {
    const auto a = moves(code, left, depth);
    if (!a) return std::nullopt;
    const auto b = moves(code, right, depth);
    if (!b || code.exprs[a->word].extra != code.exprs[b->word].extra) return std::nullopt;
    ByteMoves out = *a;
    out.operations += b->operations + 1;
    for (unsigned k = 0; k < 4; ++k) {
        if (out.from[k] >= 0 && b->from[k] >= 0) return std::nullopt;
        if (out.from[k] < 0) out.from[k] = b->from[k];
    }
    return out;
}

std::optional<ByteMoves> masked(const ir::Code& code, ir::ExprId word, std::uint32_t mask,
                                unsigned depth) {
    auto out = moves(code, word, depth);
    if (!out) return std::nullopt;
    for (unsigned k = 0; k < 4; ++k) {
        const std::uint32_t part = mask >> (8 * k) & 0xffU;
        if (part == 0) out->from[k] = -1;
        if (part != 0 && part != 0xff) return std::nullopt;
    }
    ++out->operations;
    return out;
}

std::optional<ByteMoves> shifted(const ir::Code& code, Op op, ir::ExprId word, std::uint32_t bits,
                                 unsigned depth) {
    if (bits % 8 != 0) return std::nullopt;
    auto out = moves(code, word, depth);
    if (!out) return std::nullopt;
    const unsigned count = bits / 8 % 4;  // counts are taken modulo the width
    if (op == Op::SHL) out->from = raised(out->from, count, false);
    if (op == Op::SHR) out->from = lowered(out->from, count);
    if (op == Op::ROTL) out->from = raised(out->from, count, true);
    if (op == Op::ROTR) out->from = raised(out->from, (4 - count) % 4, true);
    ++out->operations;
    return out;
}

std::optional<ByteMoves> moves(const ir::Code& code, ir::ExprId id, unsigned depth) {
    const ir::Expr& e = code.exprs[id];
    if (depth == 0 || e.type.kind != ir::Kind::U32 || e.type.lanes != 1) return std::nullopt;
    if (e.op == Op::LOCAL) {
        ByteMoves out;
        out.word = id;
        return out;
    }
    const auto ids = code.operands_of(e);
    switch (e.op) {
        case Op::OR:
            return joined(code, ids[0], ids[1], depth - 1);
        case Op::AND:
            if (const auto mask = literal(code, ids[1]))
                return masked(code, ids[0], *mask, depth - 1);
            if (const auto mask = literal(code, ids[0]))
                return masked(code, ids[1], *mask, depth - 1);
            return std::nullopt;
        case Op::SHL:
        case Op::SHR:
        case Op::ROTL:
        case Op::ROTR:
            if (const auto bits = literal(code, ids[1]))
                return shifted(code, e.op, ids[0], *bits, depth - 1);
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<ByteMoves> byte_moves(const ir::Code& code, ir::ExprId id) {
    return moves(code, id, kDepth);
}

}  // namespace wye::lower
