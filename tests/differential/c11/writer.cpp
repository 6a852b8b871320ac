// SPDX-License-Identifier: Apache-2.0
//
// Each scalar that a program computes becomes a C constant of its own. So expressions are not
// nested, and the precedence of operators does not matter.
#include "differential/c11/writer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lower/half.hpp"
#include "lower/middle/walk.hpp"

namespace c11 {
namespace {

using namespace wye;
using ir::Kind;
using ir::Op;
using lower::middle::Access;
using lower::middle::Array;
using lower::middle::Form;
using lower::middle::FormKey;
using lower::middle::Leaf;
using lower::middle::Outer;
using lower::middle::Space;
using lower::middle::Step;
namespace middle = lower::middle;

using Value = middle::Value<std::string>;
using Texts = std::vector<std::string>;  // names or literals

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

// The C type that holds a value of this kind. Integers are unsigned, and an f16 is an equal f32.
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

// The text of a program while it is being written.
struct Text {
    Text(const ir::Program& p, std::uint32_t subgroup)
        : sizes{p.workgroup, subgroup},
          forms(words_of_c11(subgroup)),
          form(p, p.workgroup, forms.target(), false) {}

    const middle::Sizes sizes;
    middle::Forms forms;
    const middle::ProgramForm form;
    std::string out{kPrologue};
    unsigned names = 0;
};

// Writes the body of main or of a function.
class Writer : public middle::Walk<Writer, std::string> {
    friend Walk;

  public:
    Writer(Text& text, std::uint32_t function)
        : Walk(text.form, function, text.sizes), text_(text) {}

    void tables();
    void function_text();
    void main() {
        line("void wye_main(struct call* w) {{");
        inner(code_.root);
        line("}}");
    }

  private:
    template <typename... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        text_.out.append(static_cast<std::size_t>(indent_) * 4, ' ');
        fmt::format_to(std::back_inserter(text_.out), text, std::forward<Args>(args)...);
        text_.out += '\n';
    }
    std::string fresh() { return fmt::format("t{}", text_.names++); }
    std::string name(Kind kind, const std::string& text) {
        std::string made = fresh();
        line("const {} {} = {};", held(kind), made, text);
        return made;
    }

    // The middle form.
    std::string form(FormKey key, std::span<const std::string> operands) {
        return spell(*text_.forms.find(key), operands);
    }
    std::string form(FormKey key, const Texts& operands) { return form(key, std::span(operands)); }
    std::string operate(Op op, Kind kind, std::span<const std::string> operands) {
        return form(middle::operation(op, kind), operands);
    }
    std::string spell(const Form& form, std::span<const std::string> operands);
    std::string word(const Step& step, const Texts& v);
    std::string leaf(const Leaf& leaf);

    // Expressions.
    std::string select(const std::string& condition, const std::string& yes,
                       const std::string& no) {
        return fmt::format("({} ? {} : {})", condition, yes, no);
    }
    std::string any_or_all(Op op, const Value& v);
    std::string bits(Kind from, Kind to, const std::string& value) {
        return name(to, word({.op = Op::BITCAST, .kind = to, .from = from}, {value}));
    }
    Value local(const ir::Expr& e);
    Value branch(const ir::Expr& e);
    Value call(const ir::Expr& e);

    // Memory.
    std::string elements(const Array& array) const;
    std::string in_range(const Access& access, std::string& at);
    Value load(const Access& access);
    void store(const Access& access, ir::ExprId value);
    std::string atomic(ir::ExprId id, bool wanted);
    void ballot(Value& v, const std::string& condition);

    // Statements.
    void inner(ir::BlockId id) {
        ++indent_;
        block(id);
        --indent_;
    }
    void barrier() { line("w->wait(w, 1);"); }
    void trap(ir::StmtId id);
    void jump(Op op) { line("{};", ir::op_text(op)); }
    void declare(const ir::Stmt& s);
    void declare_array(const ir::Stmt& s);
    void assign(const ir::Stmt& s);
    void if_statement(const ir::Stmt& s);
    void while_statement(const ir::Stmt& s);
    void for_statement(ir::StmtId id);
    void other(const ir::Stmt& s) {
        throw std::runtime_error(fmt::format("no statement `{}`", ir::op_text(s.op)));
    }
    static std::string local(std::uint64_t number, unsigned lane) {
        return fmt::format("v{}_{}", number, lane);
    }

    Text& text_;
    unsigned indent_ = 0;
};

// ---- The middle form ----------------------------------------------------------------------------

std::string Writer::word(const Step& step, const Texts& v) {
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
    // Signed only where the sign matters. Other operations are unsigned, so that they wrap around.
    const bool wraps =
        step.op == Op::ADD || step.op == Op::SUB || step.op == Op::MUL || step.op == Op::SHL;
    const std::string_view as = wraps ? held(step.from) : own(step.from);
    return fmt::format("({})(({}){} {} ({}){})", held(step.kind), as, v[0], sign,
                       shifts ? "uint32_t" : as, v[1]);
}

std::string Writer::spell(const Form& form, std::span<const std::string> operands) {
    Texts values;
    for (const Step& step : form.steps) {
        Texts v;
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

// A copy of the local variable, since the variable may change later.
Value Writer::local(const ir::Expr& e) {
    Value v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = name(e.type.kind, local(e.extra, k));
    return v;
}

// Writes a select as a branch: its accesses are in range only in the arm that is taken.
Value Writer::branch(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    const std::string condition = value(ids[0]).c[0];
    Value v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k) {
        v.c[k] = fresh();
        line("{} {};", held(e.type.kind), v.c[k]);
    }
    line("if ({}) {{", condition);
    for (const unsigned arm : {1U, 2U}) {
        ++indent_;
        const Value taken = value(ids[arm]);
        for (unsigned k = 0; k < v.lanes; ++k) line("{} = {};", v.c[k], taken.c[k]);
        --indent_;
        line("{}", arm == 1 ? "} else {" : "}");
    }
    return v;
}

std::string Writer::any_or_all(Op op, const Value& v) {
    std::string text = v.c[0];
    for (unsigned k = 1; k < v.lanes; ++k) text += (op == Op::ANY ? " || " : " && ") + v.c[k];
    return name(Kind::BOOL, text);
}

Value Writer::call(const ir::Expr& e) {
    std::string arguments;
    for (const ir::ExprId id : code_.operands_of(e)) {
        const Value v = value(id);
        for (unsigned k = 0; k < v.lanes; ++k) arguments += ", " + v.c[k];
    }
    const std::string made = fresh();
    line("const struct r{} {} = f{}(w{});", e.imm, made, e.imm, arguments);
    Value v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = fmt::format("{}.c{}", made, k);
    return v;
}

// ---- Memory -------------------------------------------------------------------------------------

// A pointer to the components of an array.
std::string Writer::elements(const Array& array) const {
    if (array.space == Space::Private) return fmt::format("v{}", array.number);
    if (array.space == Space::Constant) return fmt::format("c{}", array.number);
    return fmt::format("(({}*)w->buffers[{}])", in_memory(array.cell), array.number);
}

// The condition under which an access is in range; empty: always. `at` becomes the index.
std::string Writer::in_range(const Access& access, std::string& at) {
    at = value(access.index).c[0];
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
    v.lanes = type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k) {
        std::string given =
            fmt::format("{}[(uint64_t){} * {}u + {}u]", elements(array), at, type.lanes, k);
        if (array.loaded != middle::kNoKey) given = form(array.loaded, {name(Kind::U32, given)});
        if (array.as_bits())
            given = fmt::format("{}({})", array.cell == Kind::U64 ? "f64_bits" : "f32_bits", given);
        v.c[k] = name(type.kind, given);  // the C type extends narrow integers
        if (!ok.empty()) v.c[k] = name(type.kind, select(ok, v.c[k], literal(type.kind, 0)));
    }
    return v;
}

void Writer::store(const Access& access, ir::ExprId given) {
    const Array& array = access.array;
    std::string at;
    const std::string ok = in_range(access, at);
    Value v = right_side(given);
    for (unsigned k = 0; k < v.lanes; ++k) {
        if (access.stored() != middle::kNoKey) v.c[k] = form(access.stored(), {v.c[k]});
        v.c[k] = name(array.narrow() ? Kind::U32 : array.cell, v.c[k]);
    }
    for (unsigned k = 0; k < v.lanes; ++k)
        line("{}{}[(uint64_t){} * {}u + {}u] = {};", ok.empty() ? "" : "if (" + ok + ") ",
             elements(array), at, v.lanes, k, v.c[k]);
}

void Writer::ballot(Value& v, const std::string& condition) {
    const Step step{.op = Op::SUBGROUP_BALLOT, .kind = Kind::U32, .from = Kind::BOOL};
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = k * 32 < sizes_.subgroup
                     ? name(Kind::U32, word(step, {condition, fmt::format("{}u", k)}))
                     : "0u";
}

// Invocations run one after another between waits, so a plain access is atomic.
std::string Writer::atomic(ir::ExprId id, bool) {
    const ir::Expr& e = code_.exprs[id];
    const Access access = form_.access(id);
    const Kind kind = access.array.type.kind;
    const auto ids = code_.operands_of(e);
    std::string at;
    std::string ok = in_range(access, at);
    if (ok.empty()) ok = "true";
    Texts v;
    for (std::size_t k = 1; k < ids.size(); ++k) v.push_back(value(ids[k]).c[0]);
    const std::string element = fmt::format("{}[{}]", elements(access.array), at);
    const std::string old = name(kind, fmt::format("{} ? {} : {}", ok, element, literal(kind, 0)));
    std::string next;
    const auto combined = [&](Op op) { return form(middle::operation(op, kind), {old, v[0]}); };
    switch (e.op) {
        case Op::ATOMIC_LOAD:
            return old;
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
        default:  // for ATOMIC_CAS
            next = fmt::format("{} == {} ? {} : {}", old, v[0], v[1], old);
            break;
    }
    line("if ({}) {} = {};", ok, element, next);
    return old;
}

// ---- Statements ---------------------------------------------------------------------------------

void Writer::declare(const ir::Stmt& s) {
    const ir::Type type = code_.locals[s.local].type;
    Value v;
    v.c.fill(literal(type.kind, 0));
    if (s.op != Op::VAR_ZERO) v = right_side(s.args[0]);
    for (unsigned k = 0; k < type.lanes; ++k)
        line("{} {} = {};", held(type.kind), local(s.local, k), v.c[k]);
}

void Writer::declare_array(const ir::Stmt& s) {
    const ir::Local& array = code_.locals[s.local];
    line("{} v{}[{}] = {{0}};", held(array.type.kind), s.local,
         std::uint64_t{array.count} * array.type.lanes);
}

void Writer::assign(const ir::Stmt& s) {
    const Value v = right_side(s.args[0]);
    if (s.op == Op::ASSIGN_COMPONENT) return line("{} = {};", local(s.local, s.imm), v.c[0]);
    for (unsigned k = 0; k < v.lanes; ++k) line("{} = {};", local(s.local, k), v.c[k]);
}

void Writer::if_statement(const ir::Stmt& s) {
    line("if ({}) {{", value(s.args[0]).c[0]);
    inner(s.body);
    line("}} else {{");
    if (s.otherwise != ir::kNone) inner(s.otherwise);
    line("}}");
}

void Writer::while_statement(const ir::Stmt& s) {
    line("for (;;) {{");
    ++indent_;
    line("if (!{}) break;", value(s.args[0]).c[0]);
    --indent_;
    inner(s.body);
    line("}}");
}

void Writer::trap(ir::StmtId id) {
    const unsigned code = code_.stmts[id].imm;
    line("if (w->trap_code < {}u) w->trap_code = {}u;", code, code);
    line("++w->trap_count;");
    jump(Op::RETURN);
}

void Writer::for_statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    const middle::Loop loop = form_.loop(id);
    const Kind kind = loop.kind;
    const auto part = [&](middle::LoopPart which, const Texts& operands) {
        return form(middle::loop_part(which, kind), operands);
    };
    const std::string first = name(kind, value(s.args[0]).c[0]);
    const std::string end = name(kind, value(s.args[1]).c[0]);
    const std::string step = loop.step != 0
                                 ? literal(kind, loop.step)
                                 : part(middle::LoopPart::AtLeastOne, {value(s.args[2]).c[0]});
    const std::string_view type = held(kind), with_sign = own(kind);
    const std::string i = local(s.local, 0);
    if (loop.test == middle::Loop::Test::Counter) {
        line("for ({} {} = {}; ({}){} < ({}){}; {} += {}) {{", type, i, first, with_sign, i,
             with_sign, end, i, step);
    } else {
        const std::string rounds = part(middle::LoopPart::Rounds, {first, end, step});
        const std::string round = fresh();
        line("for ({} {} = 0, {} = {}; {} < {}; ++{}, {} += {}) {{", type, round, i, first, round,
             rounds, round, i, step);
    }
    inner(s.body);
    line("}}");
}

void Writer::function_text() {
    const ir::Function& f = program_.functions[function_];
    std::string head = fmt::format(
        "struct r{} {{ {} c0, c1, c2, c3; }};\nstatic struct r{} f{}("
        "struct call* w",
        function_, held(f.type.kind), function_, function_);
    for (std::uint32_t a = 0; a < f.arguments; ++a)
        for (unsigned k = 0; k < code_.locals[a].type.lanes; ++k)
            head += fmt::format(", {} {}", held(code_.locals[a].type.kind), local(a, k));
    line("{}) {{", head);
    inner(code_.root);
    ++indent_;
    line("struct r{} result = {{0}};", function_);
    const Value v = value(code_.result);
    for (unsigned k = 0; k < v.lanes; ++k) line("result.c{} = {};", k, v.c[k]);
    line("return result;");
    --indent_;
    line("}}");
}

void Writer::tables() {
    for (std::uint32_t t = 0; t < program_.tables.size(); ++t) {
        const ir::Table& table = program_.tables[t];
        line("static const {} c{}[] = {{", held(text_.form.table(t).cell), t);
        for (const std::uint64_t bits : table.bits)
            line("{:#x}u,",
                 table.type.kind == Kind::F16 ? std::uint64_t{lower::f32_of_f16(bits)} : bits);
        line("}};");
    }
}

}  // namespace

std::string write(const ir::Program& program, std::uint32_t subgroup) {
    Text text(program, subgroup);
    Writer main(text, ir::kNone);
    main.tables();
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) Writer(text, f).function_text();
    main.main();
    return std::move(text.out);
}

}  // namespace c11
