// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "program/check/uniformity.hpp"
#include "program/check/validate.hpp"
#include "program/check/validator.hpp"

namespace wye::ir {

namespace detail {
namespace {

std::uint8_t builtin_level(std::uint16_t index) {
    switch (index) {
        case WYE_BUILTIN_NUM_WORKGROUPS:
        case WYE_BUILTIN_WORKGROUP_SIZE:
        case WYE_BUILTIN_SUBGROUP_SIZE:
        case WYE_BUILTIN_NUM_SUBGROUPS:
            return 0;
        case WYE_BUILTIN_WORKGROUP_ID:
            return 1;
        case WYE_BUILTIN_SUBGROUP_ID:
            return 2;
        default:
            return 3;
    }
}

// Returns the level of an effect's result, which does not depend on the operands.
std::uint8_t effect_level(Op op) {
    switch (op) {
        case Op::WORKGROUP_UNIFORM_LOAD:
            return 1;
        case Op::SUBGROUP_SHUFFLE:
        case Op::SUBGROUP_SHUFFLE_XOR:
        case Op::SUBGROUP_INCLUSIVE_ADD:
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            return 3;
        default:
            return op_subgroup(op) ? 2 : 3;
    }
}

}  // namespace

Flow::Flow(const Program& program, const Code& code, const std::vector<std::uint8_t>& functions)
    : program_(program), code_(code) {
    locals_ = static_cast<Node>(code.exprs.size());
    regions_ = locals_ + static_cast<Node>(code.locals.size());
    consumer_.assign(code.exprs.size(), kNone);
    control_.assign(code.stmts.size(), regions_);
    expressions(functions);
    const Node whole = region(kNone);
    block(code.root, whole);
    solve();
}

Flow::Node Flow::region(StmtId stmt) {
    region_of_.push_back(stmt);
    return regions_ + static_cast<Node>(region_of_.size() - 1);
}

void Flow::expressions(const std::vector<std::uint8_t>& functions) {
    source_.assign(code_.exprs.size(), 0);
    for (ExprId id = 0; id < code_.exprs.size(); ++id) {
        const Expr& e = code_.exprs[id];
        if (op_effect(e.op)) {
            source_[id] = effect_level(e.op);
            continue;  // the operands' levels do not affect the result
        }
        for (const ExprId operand : code_.operands_of(e)) feed(operand, id);
        if (e.op == Op::BUILTIN) source_[id] = builtin_level(e.imm);
        if (e.op == Op::LOAD && role_writable(program_.buffers[e.imm].role)) source_[id] = 3;
        if (e.op == Op::CALL) source_[id] = functions[e.imm];
        if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY)
            edge(locals_ + static_cast<Node>(e.extra), id);
    }
}

void Flow::block(BlockId id, Node control) {
    Node seen = after_;
    for (const StmtId s : code_.blocks[id]) {
        if (after_ != seen) {
            // A return or trap above affects all later statements.
            const Node next = region(region_of_[control - regions_]);
            edge(control, next);
            edge(after_, next);
            control = next;
            seen = after_;
        }
        control_[s] = control;
        statement(s, control);
    }
}

void Flow::statement(StmtId id, Node control) {
    const Stmt& s = code_.stmts[id];
    const Node target = s.local == kNone ? kNone : locals_ + s.local;
    switch (s.op) {
        case Op::LET:
            feed(s.args[0], target);
            return;
        case Op::VAR:
        case Op::ASSIGN:
        case Op::ASSIGN_COMPONENT:
            feed(s.args[0], target);
            edge(control, target);
            return;
        case Op::VAR_ZERO:
        case Op::VAR_ARRAY:
            edge(control, target);
            return;
        case Op::STORE_ARRAY:
            feed(s.args[0], target);
            feed(s.args[1], target);
            edge(control, target);
            return;
        case Op::IF: {
            const Node arm = region(id);
            edge(control, arm);
            feed(s.args[0], arm);
            const Node before = after_;
            block(s.body, arm);
            Node other = arm;
            if (after_ != before) {
                other = region(id);
                edge(arm, other);
                edge(after_, other);
            }
            block(s.otherwise, other);
            return;
        }
        case Op::WHILE:
        case Op::FOR: {
            const Node body = region(id);
            edge(control, body);
            if (s.op == Op::WHILE) {
                feed(s.args[0], body);
            } else {
                const Node bounds = region(id);
                for (const ExprId bound : s.args) feed(bound, bounds);
                edge(bounds, target);
                edge(bounds, body);
            }
            loops_.push_back({body});
            block(s.body, body);
            loops_.pop_back();
            return;
        }
        case Op::BREAK:
        case Op::CONTINUE:
            if (!loops_.empty()) edge(control, loops_.back().body);
            return;
        case Op::RETURN:
        case Op::TRAP: {
            // A return or trap leaves all loops; inner ones inherit the level of the outermost one.
            if (!loops_.empty()) edge(control, loops_.front().body);
            const Node after = region(id);
            edge(control, after);
            if (after_ != kNone) edge(after_, after);
            after_ = after;
            return;
        }
        default:
            return;
    }
}

void Flow::solve() {
    const std::size_t nodes = regions_ + region_of_.size();
    level_.assign(nodes, 0);
    from_.assign(nodes, kNone);
    // Groups the edges by their start nodes.
    std::vector<std::uint32_t> begin(nodes + 1);
    for (const Edge& e : edges_) ++begin[e.from + 1];
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<Node> targets(edges_.size());
    std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
    for (const Edge& e : edges_) targets[at[e.from]++] = e.to;

    std::vector<Node> queue;
    for (std::uint8_t level = 3; level > 0; --level) {
        queue.clear();
        for (ExprId id = 0; id < source_.size(); ++id) {
            if (source_[id] != level || level_[id] >= level) continue;
            level_[id] = level;
            queue.push_back(id);
        }
        const auto raise = [&](Node from, Node to) {
            if (level_[to] >= level) return;
            level_[to] = level;
            from_[to] = from;
            queue.push_back(to);
        };
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const Node node = queue[next];
            if (node < locals_ && consumer_[node] != kNone) raise(node, consumer_[node]);
            for (std::uint32_t k = begin[node]; k < begin[node + 1]; ++k) raise(node, targets[k]);
        }
    }
    edges_ = {};
}

bool Flow::control_left_early(StmtId id) const {
    for (Node node = control_[id]; node != kNone; node = from_[node]) {
        if (node < regions_) continue;
        const StmtId made = region_of_[node - regions_];
        if (made != kNone &&
            (code_.stmts[made].op == Op::RETURN || code_.stmts[made].op == Op::TRAP))
            return true;
    }
    return false;
}

std::string Flow::cause(Node node) const {
    // Collects names and statements on the path, from the effect back to the cause.
    const auto statement_of = [this](Node n) {
        return n >= regions_ ? region_of_[n - regions_] : kNone;
    };
    std::vector<Node> passed;
    const std::uint8_t level = level_[node];
    const Node asked = node;
    Node last = node;
    for (; node != kNone; node = from_[node]) {
        last = node;
        const bool region = node >= regions_ && statement_of(node) != kNone;
        const bool named = node >= locals_ && node < regions_ && node != asked;
        if (!region && !named) continue;
        const bool again = region && !passed.empty() && passed.back() >= regions_ &&
                           statement_of(passed.back()) == statement_of(node);
        if (!again) passed.push_back(node);
    }
    static constexpr const char* kDiffers[] = {
        "is the same in the whole grid", "differs between workgroups", "differs between subgroups",
        "differs between invocations"};
    if (last >= locals_) return kDiffers[level];
    const Expr& e = code_.exprs[last];
    std::string text = fmt::format("{} because of ", kDiffers[level]);
    if (e.op == Op::BUILTIN)
        text += quoted(builtin_text(e.imm));
    else if (e.op == Op::LOAD)
        text += fmt::format("the load from `{}`", program_.buffers[e.imm].name);
    else if (e.op == Op::CALL)
        text += fmt::format("the call of `{}`", program_.functions[e.imm].name);
    else
        text += quoted(op_text(e.op));
    text += fmt::format(" {}", Report::at(e.place));
    // Lists the names from the cause to the effect, and omits the middle of long chains.
    constexpr std::size_t kShown = 6;
    std::reverse(passed.begin(), passed.end());
    for (std::size_t k = 0; k < passed.size(); ++k) {
        const bool cut = passed.size() > kShown && k == kShown / 2;
        text += k == 0 ? ", through " : ", ";
        if (cut) {
            text += "... ";
            k = passed.size() - kShown / 2;
        }
        if (const StmtId made = statement_of(passed[k]); made != kNone)
            text += fmt::format("the `{}` {}", op_text(code_.stmts[made].op),
                                Report::at(code_.stmts[made].place));
        else
            text += local_name(code_, passed[k] - locals_);
    }
    return text;
}

std::vector<std::uint8_t> function_levels(const Program& program) {
    std::vector<std::uint8_t> levels;
    for (const Function& f : program.functions) {
        const Flow flow(program, f.code, levels);
        levels.push_back(f.code.result == kNone ? std::uint8_t{0} : flow.expr(f.code.result));
    }
    return levels;
}

}  // namespace detail

Uniformity uniformity(const Program& program) {
    Uniformity out;
    out.functions = detail::function_levels(program);
    const detail::Flow flow(program, program.main, out.functions);
    for (ExprId id = 0; id < program.main.exprs.size(); ++id) out.exprs.push_back(flow.expr(id));
    for (std::uint32_t k = 0; k < program.main.locals.size(); ++k)
        out.locals.push_back(flow.local(k));
    for (StmtId id = 0; id < program.main.stmts.size(); ++id) out.stmts.push_back(flow.control(id));
    return out;
}

}  // namespace wye::ir
