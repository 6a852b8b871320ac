// SPDX-License-Identifier: Apache-2.0
#include "program/analysis/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "program/analysis/access.hpp"
#include "program/analysis/determinism.hpp"
#include "program/check/validator.hpp"

namespace wye::ir {

namespace detail {
namespace {

std::string where(Place place, const std::string& body) {
    if (place.line == 0) return fmt::format(" in {}", body);
    return fmt::format(" at {}:{}", place.line, place.column);
}

// Whether every lowering of the operation only moves a float, or works on its bits, so that no
// device can round the value or flush a subnormal one.
bool keeps_float_bits(Op op) {
    switch (op) {
        case Op::LITERAL:
        case Op::PARAM:
        case Op::LOCAL:
        case Op::LOAD:
        case Op::LOAD_TABLE:
        case Op::LOAD_ARRAY:
        case Op::CALL:
        case Op::CONSTRUCT:
        case Op::SPLAT:
        case Op::COMPONENT:
        case Op::BITCAST:
        case Op::SELECT:
        case Op::NEG:
        case Op::ABS:
        case Op::COPYSIGN:
        case Op::ISNAN:
        case Op::ISINF:
            return true;
        default:
            return op_atomic(op) || op == Op::WORKGROUP_UNIFORM_LOAD;
    }
}

bool subgroup_builtin(std::uint16_t index) {
    return index == WYE_BUILTIN_SUBGROUP_SIZE || index == WYE_BUILTIN_NUM_SUBGROUPS ||
           index == WYE_BUILTIN_SUBGROUP_ID || index == WYE_BUILTIN_SUBGROUP_LANE;
}

// Whether a block contains a grid barrier. Grid barriers occur only at main's top level and in
// `for` loops there.
bool holds_grid_barrier(const Code& code, BlockId block) {
    return std::ranges::any_of(code.blocks[block], [&](StmtId id) {
        const Stmt& s = code.stmts[id];
        return s.op == Op::GRID_BARRIER || (s.op == Op::FOR && holds_grid_barrier(code, s.body));
    });
}

class Analyser {
  public:
    explicit Analyser(const Program& program) : program_(program) {}

    Analysis run() {
        heads();
        // For each function, the bytes of its local arrays plus those of its most demanding call.
        std::vector<std::uint64_t> arrays;
        for (const Function& f : program_.functions) {
            body_ = "function " + quoted(f.name);
            arrays.push_back(code(f.code, arrays));
        }
        body_ = "main";
        arrays.push_back(code(program_.main, arrays));
        out_.local_array_bytes = *std::max_element(arrays.begin(), arrays.end());
        out_.params_bytes = param_layout(program_.params).size;
        if (out_.uses_grid_barrier) out_.kernels = kernels();
        find_doubts(program_, out_);
        return std::move(out_);
    }

  private:
    // Adds a need. Calls `because` for its text only at the first position that has the need.
    template <typename Because>
    void need(const char* capability, Because because, Place place) {
        for (const Need& n : out_.needs)
            if (n.capability == capability) return;
        out_.needs.push_back({capability, because(), place});
    }

    // Adds the needs of a type; `in` returns the description of its position.
    template <typename In>
    void type(Type t, In in, Place place) {
        const auto because = [&](const char* what) { return [=] { return what + in(); }; };
        if (t.bits() == 64 && t.integer()) need("int64", because("64-bit integers"), place);
        if (t.kind == Kind::F64) need("f64", because("f64"), place);
        if (t.kind == Kind::F16) need("storage16", because("f16"), place);
    }

    void heads() {
        for (const Param& p : program_.params)
            type(
                p.type, [&] { return fmt::format(" in `{}`", p.name); }, p.place);
        for (const Buffer& b : program_.buffers) {
            const auto in = [&] { return fmt::format(" elements of `{}`", b.name); };
            const auto elements = [&] { return type_name(b.type) + in(); };
            type(b.type, in, b.place);
            if (b.type.bits() == 8) need("storage8", elements, b.place);
            if (b.type.bits() == 16) need("storage16", elements, b.place);
            if (b.shared()) out_.shared_bytes += b.count * private_bytes(b.type);
        }
        for (const Table& t : program_.tables)
            type(
                t.type, [&] { return fmt::format(" elements of `{}`", t.name); }, t.place);
        if (program_.subgroup != 0) {
            const auto demand = [&] { return fmt::format("`subgroup {}`", program_.subgroup); };
            need("subgroup", demand, {});
        }
    }

    std::uint64_t code(const Code& code, const std::vector<std::uint64_t>& arrays) {
        std::uint64_t own = 0;
        std::uint64_t deepest = 0;
        for (const Local& l : code.locals) {
            type(
                l.type, [&] { return where(l.place, body_); }, l.place);
            if (l.form == Local::Form::Array) own += l.count * private_bytes(l.type);
        }
        const auto expressions = [&](ExprId root) {
            each_node(code, root, [&](const Expr& e) {
                expression(code, e);
                if (e.op == Op::CALL) deepest = std::max(deepest, arrays[e.imm]);
            });
        };
        each_statement(code, code.root, [&](const Stmt& s) {
            statement(s);
            for (const ExprId e : s.args) expressions(e);
        });
        expressions(code.result);
        return own + deepest;
    }

    void statement(const Stmt& s) {
        if (s.op == Op::BARRIER) out_.uses_barrier = true;
        if (s.op == Op::TRAP) out_.uses_trap = true;
        if (s.op == Op::WHILE) out_.may_not_terminate = true;
        if (s.op == Op::GRID_BARRIER) out_.uses_barrier = out_.uses_grid_barrier = true;
    }

    // Counts the phases between grid barriers at main's top level; 0 if a loop contains a grid
    // barrier.
    std::uint32_t kernels() const {
        const Code& main = program_.main;
        std::uint32_t runs = 0;
        bool within = false;
        for (const StmtId id : main.blocks[main.root]) {
            const Stmt& s = main.stmts[id];
            if (s.op == Op::FOR && holds_grid_barrier(main, s.body)) return 0;
            if (s.op != Op::GRID_BARRIER && !within) ++runs;
            within = s.op != Op::GRID_BARRIER;
        }
        return std::max(runs, 1U);
    }

    void subgroup(std::string_view name, Place place) {
        out_.uses_subgroup = true;
        need(
            "subgroup", [&] { return quoted(name) + where(place, body_); }, place);
    }

    void atomic(const Expr& e) {
        const Buffer& b = program_.buffers[e.imm];
        const auto because = [&] {
            return fmt::format("`{}` on `{}`{}", op_text(e.op), b.name, where(e.place, body_));
        };
        if (b.type.floating()) {
            need(b.type == kF32 ? "atomic_f32_add" : "atomic_f64_add", because, e.place);
        } else if (b.type.bits() == 64) {
            need(b.shared() ? "atomic_int64_shared" : "atomic_int64", because, e.place);
        }
    }

    void expression(const Code& code, const Expr& e) {
        type(
            e.type, [&] { return where(e.place, body_); }, e.place);
        if (op_math(e.op) && e.type.kind == Kind::F64) {
            // The definitions for f64 use the bits of f64. Those for f32 need nothing that has 64
            // bits.
            const auto because = [&] { return quoted(op_text(e.op)) + where(e.place, body_); };
            for (const char* capability : {"f64", "ieee_f64", "int64"})
                need(capability, because, e.place);
        }
        if (e.op == Op::WORKGROUP_UNIFORM_LOAD) out_.uses_barrier = true;
        if (op_atomic(e.op)) atomic(e);
        if (op_subgroup(e.op)) subgroup(op_text(e.op), e.place);
        if (e.op == Op::BUILTIN && subgroup_builtin(e.imm)) subgroup(builtin_text(e.imm), e.place);
        if (keeps_float_bits(e.op)) return;
        computes(e.op, e.type, e);
        for (const ExprId operand : code.operands_of(e))
            computes(e.op, code.exprs[operand].type, e);
    }

    // Adds the needs of an operation that computes with values of this type.
    void computes(Op op, Type type, const Expr& e) {
        if (!type.floating()) return;
        const auto because = [&] {
            const std::string what = op == Op::CONVERT ? "a conversion" : quoted(op_text(op));
            return fmt::format("{} of {}{}", what, type_name({type.kind, 1}),
                               where(e.place, body_));
        };
        need(type.kind == Kind::F64 ? "ieee_f64" : "ieee_f32", because, e.place);
    }

    const Program& program_;
    Analysis out_;
    std::string body_;
};

}  // namespace
}  // namespace detail

Analysis analyse(const Program& program) { return detail::Analyser(program).run(); }

}  // namespace wye::ir
