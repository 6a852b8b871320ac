// SPDX-License-Identifier: Apache-2.0
//
// Each scalar that a program computes becomes a constant, so expressions do not nest and operator
// precedence does not matter.
#include "differential/c11/writer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lower/half.hpp"
#include "lower/middle/code.hpp"

namespace c11 {
namespace {

using namespace wye;
using ir::Kind;
using ir::Op;
using lower::middle::Access;
using lower::middle::Array;
using lower::middle::CodeForm;
using lower::middle::Form;
using lower::middle::FormKey;
using lower::middle::Leaf;
using lower::middle::Outer;
using lower::middle::Space;
using lower::middle::Step;
namespace middle = lower::middle;

using Value = std::vector<std::string>;  // names or literals, one per lane

constexpr std::string_view kPrologue = R"(#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#pragma STDC FP_CONTRACT OFF
struct call {
    void* const* buffers;
    const uint64_t* lengths;
    const uint64_t* params;
    uint32_t group[3], groups[3], local[3];
    uint32_t index;
    uint32_t* slots;
    uint32_t trap_code, trap_count;
    void (*wait)(struct call* call, int workgroup);
};
static inline uint32_t bits_f32(float x) { uint32_t r; memcpy(&r, &x, 4); return r; }
static inline uint64_t bits_f64(double x) { uint64_t r; memcpy(&r, &x, 8); return r; }
static inline float f32_bits(uint32_t x) { float r; memcpy(&r, &x, 4); return r; }
static inline double f64_bits(uint64_t x) { double r; memcpy(&r, &x, 8); return r; }
static inline uint32_t least(uint64_t n, uint32_t most) { return n < most ? (uint32_t)n : most; }
static uint32_t shuffle(struct call* w, uint32_t value, uint32_t lane) {
    w->slots[w->index] = value;
    w->wait(w, 0);
    const uint32_t r = w->slots[lane];
    w->wait(w, 0);
    return r;
}
static uint32_t ballot(struct call* w, bool value, uint32_t first, uint32_t lanes) {
    w->slots[w->index] = value;
    w->wait(w, 0);
    uint32_t r = 0;
    for (uint32_t k = 0; k < lanes; ++k) r |= w->slots[first + k] << k;
    w->wait(w, 0);
    return r;
}
)";

// The C type of a value of this kind: integers are unsigned, f16 is held as the f32 of equal value.
std::string_view held(Kind kind) {
    switch (kind) {
        case Kind::BOOL:
            return "bool";
        case Kind::I64:
        case Kind::U64:
            return "uint64_t";
        case Kind::F16:
        case Kind::BF16:
        case Kind::F32:
            return "float";
        case Kind::F64:
            return "double";
        default:
            return "uint32_t";
    }
}
std::string_view own(Kind kind) {
    return kind == Kind::I32 ? "int32_t" : kind == Kind::I64 ? "int64_t" : held(kind);
}
std::string_view in_memory(Kind cell) {
    switch (cell) {
        case Kind::I8:
            return "int8_t";
        case Kind::U8:
            return "uint8_t";
        case Kind::I16:
            return "int16_t";
        case Kind::U16:
            return "uint16_t";
        default:
            return held(cell);
    }
}

std::string literal(Kind kind, std::uint64_t bits) {
    switch (kind) {
        case Kind::BOOL:
            return bits != 0 ? "true" : "false";
        case Kind::F16:
            return fmt::format("f32_bits({:#x}u)", lower::f32_of_f16(bits));
        case Kind::F32:
            return fmt::format("f32_bits({:#x}u)", bits);
        case Kind::F64:
            return fmt::format("f64_bits({:#x}u)", bits);
        default:
            return fmt::format("({}){:#x}u", held(kind), bits);
    }
}

const char* infix(Op op) {
    switch (op) {
        case Op::ADD:
            return "+";
        case Op::SUB:
            return "-";
        case Op::MUL:
            return "*";
        case Op::DIV:
            return "/";
        case Op::REM:
            return "%";
        case Op::AND:
            return "&";
        case Op::OR:
            return "|";
        case Op::XOR:
            return "^";
        case Op::SHL:
            return "<<";
        case Op::SHR:
            return ">>";
        case Op::LOGICAL_AND:
            return "&&";
        case Op::LOGICAL_OR:
            return "||";
        case Op::EQ:
            return "==";
        case Op::NE:
            return "!=";
        case Op::LT:
            return "<";
        case Op::LE:
            return "<=";
        case Op::GT:
            return ">";
        case Op::GE:
            return ">=";
        default:
            return nullptr;
    }
}

const char* function(Op op) {
    switch (op) {
        case Op::SQRT:
            return "sqrt";
        case Op::FMA:
            return "fma";
        case Op::FLOOR:
            return "floor";
        case Op::CEIL:
            return "ceil";
        case Op::TRUNC:
            return "trunc";
        case Op::ROUND:
            return "nearbyint";
        default:
            return nullptr;
    }
}

middle::Target words_of_c11(std::uint32_t subgroup) {
    middle::Target target;
    target.orders_integers = target.self_comparison = true;
    target.exact.fill(true);
    target.rounds_f32 = target.rounds_f64 = true;
    target.subgroup = subgroup;
    target.shuffles_words_only = true;
    target.adds_f32 = target.adds_f64 = true;
    target.tables_of_bits = true;
    return target;
}

class Writer {
  public:
    Writer(const ir::Program& program, std::uint32_t subgroup)
        : program_(program),
          sizes_{program.workgroup, subgroup},
          forms_(words_of_c11(subgroup)),
          form_(program, program.workgroup, forms_.target(), false) {}

    std::string write();

  private:
    template <typename... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        out_.append(static_cast<std::size_t>(indent_) * 4, ' ');
        fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
        out_ += '\n';
    }
    std::string name(Kind kind, const std::string& text) {
        std::string made = fmt::format("t{}", next_++);
        line("const {} {} = {};", held(kind), made, text);
        return made;
    }

    // The middle form
    std::string form(FormKey key, const Value& operands) {
        return spell(*forms_.find(key), operands);
    }
    std::string spell(const Form& form, const Value& operands);
    std::string word(const Step& step, const Value& v);
    std::string leaf(const Leaf& leaf);

    // Expressions
    Value value(ir::ExprId id);
    Value operation(const ir::Expr& e);
    Value branch(const ir::Expr& e);
    Value bitcast(const ir::Expr& e);
    Value call(const ir::Expr& e);
    Value right_side(ir::ExprId id) {
        return ir::op_effect(code_->exprs[id].op) ? effect(id) : value(id);
    }

    // Memory
    std::string elements(const Array& array) const;
    std::string in_range(const Access& access, std::string& at);
    Value load(const Access& access);
    void store(const Access& access, ir::ExprId value);
    Value effect(ir::ExprId id);
    Value atomic(ir::ExprId id);

    // Statements
    void block(ir::BlockId id);
    void inner(ir::BlockId id) {
        ++indent_;
        block(id);
        --indent_;
    }
    void statement(ir::StmtId id);
    void for_loop(ir::StmtId id);
    void function_text(std::uint32_t number);
    static std::string local(std::uint64_t number, unsigned lane) {
        return fmt::format("v{}_{}", number, lane);
    }

    const ir::Program& program_;
    const middle::Sizes sizes_;
    middle::Forms forms_;
    const middle::ProgramForm form_;
    std::optional<CodeForm> statements_;
    const ir::Code* code_ = nullptr;
    std::string out_{kPrologue};
    unsigned indent_ = 0, next_ = 0;
};

// ---- The middle form ----------------------------------------------------------------------------

std::string Writer::word(const Step& step, const Value& v) {
    const ir::Type from{step.from, 1};
    const bool narrow_float = step.from == Kind::F32 || step.from == Kind::F16;
    switch (step.op) {
        case Op::SELECT:
            return fmt::format("{} ? {} : {}", v[0], v[1], v[2]);
        case Op::NOT:
            return "~" + v[0];
        case Op::LOGICAL_NOT:
            return "!" + v[0];
        case Op::CONVERT:
            return fmt::format("({})({})({}){}", held(step.kind), own(step.kind), own(step.from),
                               v[0]);
        case Op::BITCAST: {
            const bool to_float = ir::Type{step.kind, 1}.floating();
            if (from.floating() == to_float) return v[0];
            const bool wide = from.bits() == 64;
            return fmt::format(
                "{}({})",
                to_float ? (wide ? "f64_bits" : "f32_bits") : (wide ? "bits_f64" : "bits_f32"),
                v[0]);
        }
        case Op::SUBGROUP_SHUFFLE:
            return fmt::format("shuffle(w, {}, w->index / {}u * {}u + {})", v[0], sizes_.subgroup,
                               sizes_.subgroup, v[1]);
        case Op::SUBGROUP_SHUFFLE_XOR:
            return fmt::format("shuffle(w, {}, w->index ^ {})", v[0], v[1]);
        case Op::SUBGROUP_BALLOT:
            return fmt::format("ballot(w, {}, w->index / {}u * {}u + {} * 32u, {}u)", v[0],
                               sizes_.subgroup, sizes_.subgroup, v[1],
                               std::min(sizes_.subgroup, 32U));
        default:
            break;
    }
    if (const char* called = function(step.op)) {
        std::string text = fmt::format("{}{}(", called, narrow_float ? "f" : "");
        for (std::size_t k = 0; k < v.size(); ++k) text += (k == 0 ? "" : ", ") + v[k];
        return text + ")";
    }
    const char* sign = infix(step.op);
    if (sign == nullptr)
        throw std::runtime_error(fmt::format("no word for `{}`", ir::op_text(step.op)));
    const bool shifts = step.op == Op::SHL || step.op == Op::SHR;
    // Signed only where the sign matters: other operations wrap.
    const bool wraps =
        step.op == Op::ADD || step.op == Op::SUB || step.op == Op::MUL || step.op == Op::SHL;
    const std::string_view as = wraps ? held(step.from) : own(step.from);
    return fmt::format("({})(({}){} {} ({}){})", held(step.kind), as, v[0], sign,
                       shifts ? "uint32_t" : as, v[1]);
}

std::string Writer::spell(const Form& form, const Value& operands) {
    Value values;
    for (const Step& step : form.steps) {
        Value v;
        for (unsigned k = 0; k < step.count; ++k) v.push_back(values[step.parts[k]]);
        switch (step.how) {
            case Step::How::Operand:
                values.push_back(operands[step.extra]);
                break;
            case Step::How::Literal:
                values.push_back(literal(step.kind, step.extra));
                break;
            case Step::How::Word:
                values.push_back(name(step.kind, word(step, v)));
                break;
            case Step::How::Form:
                values.push_back(this->form(static_cast<FormKey>(step.extra), v));
                break;
            case Step::How::Hidden:
                values.push_back(v[0]);
                break;
            case Step::How::Call:
                throw std::runtime_error("everything is exact in C11: no emulation is called");
        }
    }
    return values.back();
}

std::string Writer::leaf(const Leaf& leaf) {
    if (!leaf.outer) return literal(leaf.kind, leaf.bits);
    const std::uint64_t n = leaf.bits;
    switch (*leaf.outer) {
        case Outer::Length:
            return fmt::format("least(w->lengths[{}], 0xffffffffu)", n);
        case Outer::SignedLength:
            return fmt::format("least(w->lengths[{}], 0x80000000u)", n);
        case Outer::Length64:
            return fmt::format("w->lengths[{}]", n);
        case Outer::Param: {
            const ir::Type type = program_.params[n].type;
            if (type.floating())
                return fmt::format("{}(w->params[{}])", type.bits() == 64 ? "f64_bits" : "f32_bits",
                                   n);
            return fmt::format("(({})w->params[{}])", held(type.kind), n);
        }
        case Outer::WorkgroupId:
            return fmt::format("w->group[{}]", n);
        case Outer::LocalId:
            return fmt::format("w->local[{}]", n);
        case Outer::GlobalId:
            return fmt::format("(w->group[{}] * {}u + w->local[{}])", n, sizes_.workgroup[n], n);
        case Outer::NumWorkgroups:
            return fmt::format("w->groups[{}]", n);
        case Outer::LocalIndex:
            return "w->index";
        case Outer::SubgroupId:
            return fmt::format("(w->index / {}u)", sizes_.subgroup);
        case Outer::SubgroupLane:
            return fmt::format("(w->index % {}u)", sizes_.subgroup);
        default:
            throw std::runtime_error("nothing asks for this");
    }
}

// ---- Expressions --------------------------------------------------------------------------------

Value Writer::value(ir::ExprId id) {
    const ir::Expr& e = code_->exprs[id];
    const auto ids = code_->operands_of(e);
    if (middle::is_leaf(e.op)) return {leaf(middle::leaf_of(program_, *code_, e))};
    switch (e.op) {
        case Op::LOCAL: {
            Value v;
            for (unsigned k = 0; k < e.type.lanes; ++k)
                // A copy, since the local may change.
                v.push_back(name(e.type.kind, local(e.extra, k)));
            return v;
        }
        case Op::BUILTIN: {
            Value v;
            for (unsigned k = 0; k < e.type.lanes; ++k)
                v.push_back(leaf(middle::built_in(e.imm, k, sizes_)));
            return v;
        }
        case Op::LOAD:
        case Op::LOAD_TABLE:
        case Op::LOAD_ARRAY:
            return load(statements_->access(id));
        case Op::CALL:
            return call(e);
        case Op::COMPONENT:
            return {value(ids[0])[e.imm]};
        case Op::BITCAST:
            return bitcast(e);
        case Op::CONVERT: {
            Value v = value(ids[0]);
            const FormKey key = middle::conversion(code_->exprs[ids[0]].type.kind, e.type.kind);
            for (std::string& each : v) each = form(key, {each});
            return v;
        }
        default:
            return statements_->branches(id) ? branch(e) : operation(e);
    }
}

// Writes a select as a branch, because its accesses are in range only in the arm that is taken.
Value Writer::branch(const ir::Expr& e) {
    const auto ids = code_->operands_of(e);
    const std::string condition = value(ids[0])[0];
    Value v;
    for (unsigned k = 0; k < e.type.lanes; ++k) {
        v.push_back(fmt::format("t{}", next_++));
        line("{} {};", held(e.type.kind), v[k]);
    }
    line("if ({}) {{", condition);
    for (const unsigned arm : {1U, 2U}) {
        ++indent_;
        const Value taken = value(ids[arm]);
        for (unsigned k = 0; k < e.type.lanes; ++k) line("{} = {};", v[k], taken[k]);
        --indent_;
        line("{}", arm == 1 ? "} else {" : "}");
    }
    return v;
}

Value Writer::operation(const ir::Expr& e) {
    std::vector<Value> operands;
    for (const ir::ExprId id : code_->operands_of(e)) operands.push_back(value(id));
    const ir::Type first = code_->exprs[code_->operands_of(e)[0]].type;
    const auto part = [&](std::size_t operand, unsigned lane) {
        return operands[operand].size() == 1 ? operands[operand][0] : operands[operand][lane];
    };
    Value v;
    if (e.op == Op::ANY || e.op == Op::ALL) {
        std::string text = part(0, 0);
        for (unsigned k = 1; k < first.lanes; ++k)
            text += (e.op == Op::ANY ? " || " : " && ") + part(0, k);
        return {name(Kind::BOOL, text)};
    }
    for (unsigned k = 0; k < e.type.lanes; ++k) {
        if (e.op == Op::CONSTRUCT) {
            v.push_back(part(k, 0));
        } else if (e.op == Op::SPLAT) {
            v.push_back(part(0, 0));
        } else if (e.op == Op::SELECT) {
            v.push_back(
                name(e.type.kind, fmt::format("{} ? {} : {}", part(0, k), part(1, k), part(2, k))));
        } else {
            Value parts;
            for (std::size_t i = 0; i < operands.size(); ++i) parts.push_back(part(i, k));
            v.push_back(form(middle::operation(e.op, first.kind), parts));
        }
    }
    return v;
}

Value Writer::bitcast(const ir::Expr& e) {
    const middle::Bitcast cast = statements_->bitcast(e);
    const Kind from = code_->exprs[code_->operands_of(e)[0]].type.kind;
    Value v = value(code_->operands_of(e)[0]);
    if (!cast.plain()) {
        Value out;
        for (unsigned k = 0; k < e.type.lanes; ++k) out.push_back(form(cast.parts[k], v));
        return out;
    }
    for (std::string& each : v) {
        if (cast.canonical != middle::kNoKey) each = form(cast.canonical, {each});
        const Step step{.op = Op::BITCAST, .kind = e.type.kind, .from = from};
        each = name(e.type.kind, word(step, {each}));
    }
    return v;
}

Value Writer::call(const ir::Expr& e) {
    std::string arguments;
    for (const ir::ExprId id : code_->operands_of(e))
        for (const std::string& each : value(id)) arguments += ", " + each;
    const std::string made = fmt::format("t{}", next_++);
    line("const struct r{} {} = f{}(w{});", e.imm, made, e.imm, arguments);
    Value v;
    for (unsigned k = 0; k < e.type.lanes; ++k) v.push_back(fmt::format("{}.c{}", made, k));
    return v;
}

// ---- Memory -------------------------------------------------------------------------------------

// A pointer to an array's components.
std::string Writer::elements(const Array& array) const {
    if (array.space == Space::Private) return fmt::format("v{}", array.number);
    if (array.space == Space::Constant) return fmt::format("c{}", array.number);
    return fmt::format("(({}*)w->buffers[{}])", in_memory(array.cell), array.number);
}

// The condition that an access is in range; empty: always.
std::string Writer::in_range(const Access& access, std::string& at) {
    at = value(access.index)[0];
    if (access.check == Access::Check::None) return {};
    const std::string ok = name(Kind::BOOL, fmt::format("{} < {}", at, leaf(access.length)));
    if (access.check == Access::Check::Zero)
        at = name(access.kind, fmt::format("{} ? {} : 0u", ok, at));
    return ok;
}

Value Writer::load(const Access& access) {
    const Array& array = access.array;
    std::string at;
    const std::string ok = in_range(access, at);
    const ir::Type type = array.type.loaded();
    Value v;
    for (unsigned k = 0; k < type.lanes; ++k) {
        std::string given =
            fmt::format("{}[(uint64_t){} * {}u + {}u]", elements(array), at, type.lanes, k);
        if (array.loaded != middle::kNoKey) given = form(array.loaded, {name(Kind::U32, given)});
        if (array.as_bits())
            given = fmt::format("{}({})", array.cell == Kind::U64 ? "f64_bits" : "f32_bits", given);
        v.push_back(name(type.kind, given));  // narrow integers are extended by their type
        if (!ok.empty())
            v[k] = name(type.kind, fmt::format("{} ? {} : {}", ok, v[k], literal(type.kind, 0)));
    }
    return v;
}

void Writer::store(const Access& access, ir::ExprId given) {
    const Array& array = access.array;
    std::string at;
    const std::string ok = in_range(access, at);
    Value v = right_side(given);
    for (std::string& each : v) {
        if (access.stored() != middle::kNoKey) each = form(access.stored(), {each});
        each = name(array.narrow() ? Kind::U32 : array.cell, each);
    }
    for (std::size_t k = 0; k < v.size(); ++k)
        line("{}{}[(uint64_t){} * {}u + {}u] = {};", ok.empty() ? "" : "if (" + ok + ") ",
             elements(array), at, v.size(), k, v[k]);
}

Value Writer::effect(ir::ExprId id) {
    const ir::Expr& e = code_->exprs[id];
    const auto ids = code_->operands_of(e);
    if (ir::op_atomic(e.op)) return atomic(id);
    if (e.op == Op::WORKGROUP_UNIFORM_LOAD) {
        line("w->wait(w, 1);");
        Value v = load(statements_->access(id));
        line("w->wait(w, 1);");
        return v;
    }
    Value operands;
    for (const ir::ExprId each : ids) operands.push_back(value(each)[0]);
    if (e.op == Op::SUBGROUP_BALLOT) {
        Value v;
        const Step step{.op = e.op, .kind = Kind::U32, .from = Kind::BOOL};
        for (unsigned k = 0; k < 4; ++k)
            v.push_back(k * 32 < sizes_.subgroup
                            ? name(Kind::U32, word(step, {operands[0], fmt::format("{}u", k)}))
                            : "0u");
        return v;
    }
    operands.push_back(leaf({.outer = Outer::SubgroupLane}));
    return {form(middle::subgroup(e.op, code_->exprs[ids[0]].type.kind), operands)};
}

// Between waits, invocations run one after another, so plain accesses are atomic.
Value Writer::atomic(ir::ExprId id) {
    const ir::Expr& e = code_->exprs[id];
    const Access access = statements_->access(id);
    const Kind kind = access.array.type.kind;
    const auto ids = code_->operands_of(e);
    std::string at;
    std::string ok = in_range(access, at);
    if (ok.empty()) ok = "true";
    Value v;
    for (std::size_t k = 1; k < ids.size(); ++k) v.push_back(value(ids[k])[0]);
    const std::string element = fmt::format("{}[{}]", elements(access.array), at);
    const std::string old = name(kind, fmt::format("{} ? {} : {}", ok, element, literal(kind, 0)));
    std::string next;
    const auto combined = [&](Op op) { return form(middle::operation(op, kind), {old, v[0]}); };
    switch (e.op) {
        case Op::ATOMIC_LOAD:
            return {old};
        case Op::ATOMIC_STORE:
        case Op::ATOMIC_EXCHANGE:
            next = v[0];
            break;
        case Op::ATOMIC_ADD:
            next = combined(Op::ADD);
            break;
        case Op::ATOMIC_MIN:
            next = combined(Op::MIN);
            break;
        case Op::ATOMIC_MAX:
            next = combined(Op::MAX);
            break;
        case Op::ATOMIC_AND:
            next = combined(Op::AND);
            break;
        case Op::ATOMIC_OR:
            next = combined(Op::OR);
            break;
        case Op::ATOMIC_XOR:
            next = combined(Op::XOR);
            break;
        default:  // ATOMIC_CAS
            next = fmt::format("{} == {} ? {} : {}", old, v[0], v[1], old);
            break;
    }
    line("if ({}) {} = {};", ok, element, next);
    return {old};
}

// ---- Statements ---------------------------------------------------------------------------------

void Writer::block(ir::BlockId id) {
    for (const ir::StmtId s : code_->blocks[id]) statement(s);
}

void Writer::statement(ir::StmtId id) {
    const ir::Stmt& s = code_->stmts[id];
    const auto type = [&] { return code_->locals[s.local].type; };
    switch (s.op) {
        case Op::LET:
        case Op::VAR:
        case Op::VAR_ZERO: {
            const Value v = s.op == Op::VAR_ZERO ? Value(type().lanes, literal(type().kind, 0))
                                                 : right_side(s.args[0]);
            for (unsigned k = 0; k < v.size(); ++k)
                line("{} {} = {};", held(type().kind), local(s.local, k), v[k]);
            return;
        }
        case Op::VAR_ARRAY: {
            const std::uint64_t count = std::uint64_t{code_->locals[s.local].count} * type().lanes;
            line("{} v{}[{}] = {{0}};", held(type().kind), s.local, count);
            return;
        }
        case Op::ASSIGN:
        case Op::ASSIGN_COMPONENT: {
            const Value v = right_side(s.args[0]);
            if (s.op == Op::ASSIGN_COMPONENT) return line("{} = {};", local(s.local, s.imm), v[0]);
            for (unsigned k = 0; k < v.size(); ++k) line("{} = {};", local(s.local, k), v[k]);
            return;
        }
        case Op::STORE:
        case Op::STORE_ARRAY:
            return store(statements_->store(id), s.args[1]);
        case Op::EFFECT:
            effect(s.args[0]);
            return;
        case Op::IF:
            line("if ({}) {{", value(s.args[0])[0]);
            inner(s.body);
            line("}} else {{");
            if (s.otherwise != ir::kNone) inner(s.otherwise);
            return line("}}");
        case Op::FOR:
            return for_loop(id);
        case Op::WHILE:
            line("for (;;) {{");
            ++indent_;
            line("if (!{}) break;", value(s.args[0])[0]);
            --indent_;
            inner(s.body);
            return line("}}");
        case Op::BREAK:
            return line("break;");
        case Op::CONTINUE:
            return line("continue;");
        case Op::RETURN:
            return line("return;");
        case Op::BARRIER:
            return line("w->wait(w, 1);");
        case Op::TRAP:
            line("if (w->trap_code < {}u) w->trap_code = {}u;", s.imm, s.imm);
            line("++w->trap_count;");
            return line("return;");
        default:
            throw std::runtime_error(fmt::format("no statement `{}`", ir::op_text(s.op)));
    }
}

void Writer::for_loop(ir::StmtId id) {
    const ir::Stmt& s = code_->stmts[id];
    const middle::Loop loop = statements_->loop(id);
    const Kind kind = loop.kind;
    const auto part = [&](middle::LoopPart which, const Value& operands) {
        return form(middle::loop_part(which, kind), operands);
    };
    const std::string first = name(kind, value(s.args[0])[0]);
    const std::string end = name(kind, value(s.args[1])[0]);
    const std::string step = loop.step != 0
                                 ? literal(kind, loop.step)
                                 : part(middle::LoopPart::AtLeastOne, {value(s.args[2])[0]});
    const std::string_view type = held(kind), with_sign = own(kind);
    const std::string i = local(s.local, 0);
    if (loop.test == middle::Loop::Test::Counter) {
        line("for ({} {} = {}; ({}){} < ({}){}; {} += {}) {{", type, i, first, with_sign, i,
             with_sign, end, i, step);
    } else {
        const std::string rounds = part(middle::LoopPart::Rounds, {first, end, step});
        const std::string round = fmt::format("t{}", next_++);
        line("for ({} {} = 0, {} = {}; {} < {}; ++{}, {} += {}) {{", type, round, i, first, round,
             rounds, round, i, step);
    }
    inner(s.body);
    line("}}");
}

void Writer::function_text(std::uint32_t number) {
    const ir::Function& f = program_.functions[number];
    code_ = &f.code;
    statements_.emplace(form_, number);
    std::string head = fmt::format(
        "struct r{} {{ {} c0, c1, c2, c3; }};\nstatic struct r{} f{}("
        "struct call* w",
        number, held(f.type.kind), number, number);
    for (std::uint32_t a = 0; a < f.arguments; ++a)
        for (unsigned k = 0; k < f.code.locals[a].type.lanes; ++k)
            head += fmt::format(", {} {}", held(f.code.locals[a].type.kind), local(a, k));
    line("{}) {{", head);
    inner(f.code.root);
    ++indent_;
    line("struct r{} result = {{0}};", number);
    const Value v = value(f.code.result);
    for (std::size_t k = 0; k < v.size(); ++k) line("result.c{} = {};", k, v[k]);
    line("return result;");
    --indent_;
    line("}}");
}

std::string Writer::write() {
    for (std::size_t t = 0; t < program_.tables.size(); ++t) {
        const ir::Table& table = program_.tables[t];
        const auto number = static_cast<std::uint32_t>(t);
        line("static const {} c{}[] = {{", held(form_.table(number).cell), t);
        for (const std::uint64_t bits : table.bits)
            line("{:#x}u,",
                 table.type.kind == Kind::F16 ? std::uint64_t{lower::f32_of_f16(bits)} : bits);
        line("}};");
    }
    for (std::uint32_t f = 0; f < program_.functions.size(); ++f) function_text(f);
    code_ = &program_.main;
    statements_.emplace(form_, ir::kNone);
    line("void wye_main(struct call* w) {{");
    inner(program_.main.root);
    line("}}");
    return std::move(out_);
}

}  // namespace

std::string write(const ir::Program& program, std::uint32_t subgroup) {
    return Writer(program, subgroup).write();
}

}  // namespace c11
