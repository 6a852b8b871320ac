// SPDX-License-Identifier: Apache-2.0
//
// The passes over statements and expressions. A pass goes from the last statement or expression to
// the first, since later ones use earlier ones. A change that is kept gives statements and
// expressions new numbers; the pass then goes on near the same place.
#include <algorithm>

#include "differential/shrinker.hpp"

namespace differential {

using namespace wye::ir;

// Removes runs of statements: whole blocks, then halves of blocks, and so on down to one statement.
bool Shrinker::statements() {
    bool any = false;
    for (std::size_t c = code_count(now_.program); c-- > 0;)
        for (std::size_t b = code(c).blocks.size(); b-- > 0;) {
            if (b >= code(c).blocks.size()) continue;
            for (std::size_t run = code(c).blocks[b].size(); run > 0; run /= 2)
                for (std::size_t at = code(c).blocks[b].size(); at > 0 && !ended();) {
                    at -= std::min(at, run);
                    const bool kept = attempt([&](State& s) {
                        Code& into = *codes(s.program)[c];
                        auto& block = into.blocks[b];
                        if (at >= block.size()) return false;
                        const auto first = block.begin() + static_cast<std::ptrdiff_t>(at);
                        block.erase(first, first + static_cast<std::ptrdiff_t>(
                                                       std::min(run, block.size() - at)));
                        repair(into);
                        return true;
                    });
                    any |= kept;
                    if (b >= code(c).blocks.size()) break;
                    at = std::min(at, code(c).blocks[b].size());
                }
        }
    return any;
}

// Replaces compound statements by the statements in their blocks.
bool Shrinker::structure() {
    bool any = false;
    for (std::size_t c = code_count(now_.program); c-- > 0;)
        for (std::size_t b = code(c).blocks.size(); b-- > 0;) {
            if (b >= code(c).blocks.size()) continue;
            for (std::size_t at = code(c).blocks[b].size(); at-- > 0 && !ended();)
                for (const bool otherwise : {false, true}) {
                    if (b >= code(c).blocks.size() || at >= code(c).blocks[b].size()) break;
                    any |= attempt([&](State& s) {
                        return unwrap(*codes(s.program)[c], static_cast<BlockId>(b), at, otherwise);
                    });
                }
        }
    return any;
}

// Replaces an expression by a part of the same type: one of its operands, or an operand of an
// operand.
bool Shrinker::hoist(std::size_t c, ExprId id) {
    const auto candidates = [&] {
        std::vector<ExprId> out;
        const Code& from = code(c);
        const Type type = from.exprs[id].type;
        for (const ExprId operand : from.operands_of(id)) {
            if (from.exprs[operand].type == type) out.push_back(operand);
            for (const ExprId below : from.operands_of(operand))
                if (from.exprs[below].type == type) out.push_back(below);
        }
        return out;
    };
    for (const ExprId part : candidates())
        if (attempt([&](State& s) {
                Code& into = *codes(s.program)[c];
                if (op_effect(into.exprs[part].op)) return false;
                into.exprs[id] = Expr(into.exprs[part]);
                return true;
            }))
            return true;
    return false;
}

bool Shrinker::expression(std::size_t c, ExprId id) {
    const Expr e = code(c).exprs[id];
    if (e.type.none()) return false;
    const bool constant = is_constant(code(c), id);
    const auto become = [&](bool one) {
        return attempt([&](State& s) {
            make_constant(*codes(s.program)[c], id, one);
            return true;
        });
    };
    if (constant && (e.op == Op::SPLAT || e.extra == 0)) return false;
    if (become(false)) return true;
    if (constant) return false;
    return hoist(c, id) || become(true);
}

bool Shrinker::expressions() {
    bool any = false;
    for (std::size_t c = code_count(now_.program); c-- > 0;)
        for (std::size_t id = code(c).exprs.size(); id-- > 0 && !ended();) {
            while (id < code(c).exprs.size() && expression(c, static_cast<ExprId>(id))) any = true;
            id = std::min(id, code(c).exprs.size());
        }
    return any;
}

bool Shrinker::inlining() {
    bool any = false;
    for (std::size_t c = code_count(now_.program); c-- > 0;) {
        for (std::size_t id = code(c).exprs.size(); id-- > 0 && !ended();) {
            if (id >= code(c).exprs.size()) continue;
            any |= attempt([&](State& s) {
                return inline_call(s.program, *codes(s.program)[c], static_cast<ExprId>(id));
            });
        }
        for (std::size_t b = code(c).blocks.size(); b-- > 0;)
            for (std::size_t at = code(c).blocks[b].size(); at-- > 0 && !ended();) {
                if (b >= code(c).blocks.size() || at >= code(c).blocks[b].size()) continue;
                any |= attempt([&](State& s) {
                    Code& into = *codes(s.program)[c];
                    const Stmt& let = into.stmts[into.blocks[b][at]];
                    const auto uses = std::ranges::count_if(into.exprs, [&](const Expr& e) {
                        return e.op == Op::LOCAL && e.extra == let.local;
                    });
                    return uses == 1 && inline_let(into, static_cast<BlockId>(b), at);
                });
            }
    }
    return any;
}

}  // namespace differential
