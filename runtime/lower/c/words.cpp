// SPDX-License-Identifier: Apache-2.0
//
// Spells the middle form of scalar operations as C. A form that uses no value twice is an
// expression; any other is a helper function, so nothing is computed twice.
#include "lower/c/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "lower/passes/native_functions.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;
using middle::Form;
using middle::FormKey;
using middle::Step;
using middle::StepId;

using Operands = std::span<const std::string>;

// The precedence, in C, of the outermost operator of a text.
enum Level : std::uint8_t {
    kChoice = 3,
    kOr = 4,
    kAnd = 5,
    kBitOr = 6,
    kBitXor = 7,
    kBitAnd = 8,
    kEquality = 9,
    kOrder = 10,
    kShift = 11,
    kSum = 12,
    kProduct = 13,
    kUnary = 14,
    kAtom = 15
};

struct Piece {
    std::string text;
    Level level = kAtom;
    bool small = false;  // whether it is a literal that fits any integer type
};

struct Infix {
    Op op = Op::None;
    const char* sign = nullptr;
    Level level = kAtom;
};
Infix infix_of(Op op) {
    static constexpr Infix kAll[] = {
        {Op::ADD, " + ", kSum},      {Op::SUB, " - ", kSum},          {Op::MUL, " * ", kProduct},
        {Op::DIV, " / ", kProduct},  {Op::REM, " % ", kProduct},      {Op::AND, " & ", kBitAnd},
        {Op::OR, " | ", kBitOr},     {Op::XOR, " ^ ", kBitXor},       {Op::SHL, " << ", kShift},
        {Op::SHR, " >> ", kShift},   {Op::LOGICAL_AND, " && ", kAnd}, {Op::LOGICAL_OR, " || ", kOr},
        {Op::EQ, " == ", kEquality}, {Op::NE, " != ", kEquality},     {Op::LT, " < ", kOrder},
        {Op::LE, " <= ", kOrder},    {Op::GT, " > ", kOrder},         {Op::GE, " >= ", kOrder}};
    const auto* at = std::ranges::find(kAll, op, &Infix::op);
    return at == std::end(kAll) ? Infix() : *at;
}

std::string in_brackets(const Piece& piece, bool wanted) {
    return wanted ? "(" + piece.text + ")" : piece.text;
}
std::string tight(const Piece& piece) { return in_brackets(piece, piece.level < kUnary); }

std::optional<Intrinsic> intrinsic_of(Op op) {
    static constexpr std::pair<Op, Intrinsic> kAll[] = {
        {Op::POPCOUNT, Intrinsic::PopCount}, {Op::CLZ, Intrinsic::Clz},
        {Op::MUL_HI, Intrinsic::MulHi},      {Op::SQRT, Intrinsic::Sqrt},
        {Op::FMA, Intrinsic::Fma},           {Op::FLOOR, Intrinsic::Floor},
        {Op::CEIL, Intrinsic::Ceil},         {Op::TRUNC, Intrinsic::Trunc},
        {Op::ROUND, Intrinsic::Rint}};
    for (const auto& [named, what] : kAll)
        if (named == op) return what;
    return std::nullopt;
}

bool acts_on_sign(Op op) {
    return op == Op::DIV || op == Op::REM || op == Op::SHR || op == Op::MUL_HI ||
           (op >= Op::LT && op <= Op::GE);
}

// Spells the words of one dialect. `apart`: each operation with an operator is in parentheses, so
// that its text can be part of a larger expression.
class StepWords {
  public:
    StepWords(CModule& module, bool apart) : module_(module), apart_(apart) {}

    Piece word(const Step& step, std::span<const Piece> v) const;
    Piece infix(Op op, const Piece& a, const Piece& b) const;

  private:
    std::string cast_to(Kind kind) const { return "(" + std::string(module_.use_type(kind)) + ")"; }
    std::string as_signed(Kind kind, const Piece& piece) const {
        if (piece.small) return piece.text.substr(0, piece.text.find('u'));
        return "(" + std::string(module_.spelling.type(kind)) + ")" + tight(piece);
    }
    Piece finished(std::string text, Level level) const {
        if (apart_) return {"(" + text + ")"};
        return {std::move(text), level};
    }
    Piece intrinsic(Intrinsic what, Kind kind, std::span<const Piece> v) const;
    Piece converted(const Step& step, const Piece& v) const;
    void note_rounded(Op op, Kind kind) const;

    CModule& module_;
    const bool apart_;
};

// Puts operands in parentheses more often than C demands. For arithmetic, bit logic and
// comparisons: all operands with an infix operator or ?:. For &&: operands with ?: or ||. For ||:
// operands with ?: or &&.
Piece StepWords::infix(Op op, const Piece& a, const Piece& b) const {
    const Infix known = infix_of(op);
    const bool logical = known.level < kBitOr;
    const auto side = [&](const Piece& piece) {
        const bool same = logical && piece.level == known.level;
        return in_brackets(piece, !same && piece.level <= (logical ? kAnd : kProduct));
    };
    return finished(side(a) + known.sign + side(b), known.level);
}

Piece StepWords::intrinsic(Intrinsic what, Kind kind, std::span<const Piece> v) const {
    std::vector<std::string> texts;
    for (const Piece& piece : v) texts.push_back(piece.text);
    return {module_.spelling.intrinsic(what, kind, texts)};
}

void StepWords::note_rounded(Op op, Kind kind) const {
    using middle::Rounded;
    const bool wide = kind == Kind::F64;
    if (op != Op::DIV && op != Op::SQRT && op != Op::FMA) return;
    const Rounded what = op == Op::DIV    ? (wide ? Rounded::F64Div : Rounded::F32Div)
                         : op == Op::SQRT ? (wide ? Rounded::F64Sqrt : Rounded::F32Sqrt)
                                          : (wide ? Rounded::F64Fma : Rounded::F32Fma);
    module_.used.rounded[static_cast<unsigned>(what)] = true;
}

// Signed values are held unsigned, so they are cast to signed before widening and before conversion
// to floats.
Piece StepWords::converted(const Step& step, const Piece& v) const {
    const ir::Type source{step.from, 1};
    const ir::Type target{step.kind, 1};
    const std::string cast = cast_to(step.kind);
    if (source.floating() && target.signed_integer())
        return {cast + as_signed(step.kind, v), kUnary};
    const bool widens = target.floating() || target.bits() > source.bits();
    if (source.signed_integer() && widens) return {cast + as_signed(step.from, v), kUnary};
    return {cast + tight(v), kUnary};
}

Piece StepWords::word(const Step& step, std::span<const Piece> v) const {
    const ir::Type from{step.from, 1};
    switch (step.op) {
        case Op::SELECT:
            return finished(in_brackets(v[0], v[0].level <= kChoice) + " ? " +
                                in_brackets(v[1], v[1].level <= kChoice) + " : " + v[2].text,
                            kChoice);
        case Op::NOT:
            return finished("~" + tight(v[0]), kUnary);
        case Op::LOGICAL_NOT:
            return finished("!" + tight(v[0]), kUnary);
        case Op::CONVERT:
            return converted(step, v[0]);
        case Op::BITCAST:
            if (from.floating())
                return intrinsic(Intrinsic::FloatBits,
                                 step.from == Kind::F64 ? Kind::F64 : Kind::F32, v);
            return intrinsic(Intrinsic::BitsFloat, step.kind, v);
        case Op::SUBGROUP_SHUFFLE:
            return {module_.spelling.shuffle(step.from, module_.subgroup, v[0].text, v[1].text)};
        case Op::SUBGROUP_SHUFFLE_XOR:
            return {
                module_.spelling.shuffle_xor(step.from, module_.subgroup, v[0].text, v[1].text)};
        case Op::SUBGROUP_BALLOT: {  // the component is a literal
            const auto component = static_cast<unsigned>(v[1].text[0] - '0');
            return {module_.spelling.ballot(module_.subgroup, component, v[0].text)};
        }
        default:
            break;
    }
    if (from.floating()) note_rounded(step.op, step.from);
    const bool with_sign = from.signed_integer() && acts_on_sign(step.op);
    std::array<Piece, 2> sided;
    if (with_sign) {
        for (std::size_t k = 0; k < v.size(); ++k)
            sided[k] =
                step.op == Op::SHR && k == 1 ? v[k] : Piece{as_signed(step.from, v[k]), kUnary};
        v = std::span<const Piece>(sided).first(v.size());
    }
    Piece made;
    if (const auto what = intrinsic_of(step.op))
        made = intrinsic(*what, step.from, v);
    else
        made = infix(step.op, v[0], v[1]);
    if (!with_sign || step.kind == Kind::BOOL) return made;
    return {cast_to(step.kind) + tight(made), kUnary};
}

// Bitcasts between integers, and between f16 and the f32 that holds it, need no text.
bool same_text(const Step& step) {
    if (step.how != Step::How::Word || step.op != Op::BITCAST) return false;
    const auto floating = [](Kind kind) { return ir::Type{kind, 1}.floating(); };
    return floating(step.kind) == floating(step.from);
}

// Writes the text of one form.
class FormText {
  public:
    FormText(CModule& module, const Form& form) : module_(module), form_(form) {
        for (const Step& step : form.steps) {
            const auto id = static_cast<StepId>(aliases_.size());
            aliases_.push_back(same_text(step) ? aliases_[step.parts[0]] : id);
            for_all_ = for_all_ || ir::op_subgroup(step.op);
            uses_.push_back(0);
            if (aliases_[id] != id) continue;
            for (unsigned k = 0; k < step.count; ++k) ++uses_[aliases_[step.parts[k]]];
        }
        for (StepId id = 0; id < uses_.size(); ++id)
            numbers_.push_back(static_cast<std::uint16_t>((id == 0 ? 0 : numbers_.back()) +
                                                          (declared(id) ? 1 : 0)));
    }

    // Whether the form can be written as one C expression: no step has a name, and no value is
    // needed twice.
    [[nodiscard]] bool is_expression() const;
    std::string expression(Operands operands) {
        return piece(result(), StepWords(module_, !form_.repeats_operands), operands).text;
    }
    // Returns the body of a helper function with arguments a, b, c.
    std::string body();

  private:
    [[nodiscard]] StepId result() const { return aliases_.back(); }
    [[nodiscard]] bool leaf(StepId id) const {
        const Step::How how = form_.steps[id].how;
        return how == Step::How::Operand || how == Step::How::Literal;
    }
    [[nodiscard]] bool declared(StepId id) const {
        if (id == result() || aliases_[id] != id || leaf(id)) return false;
        // All lanes must take part in a shuffle, so a shuffle must not stand in an arm of ?:.
        return uses_[id] > 1 || form_.steps[id].name != nullptr ||
               ir::op_subgroup(form_.steps[id].op);
    }
    [[nodiscard]] std::string name(StepId id) const {
        const char* given = form_.steps[id].name;
        return given != nullptr ? given : "t" + std::to_string(numbers_[id]);
    }
    Piece piece(StepId id, const StepWords& words, Operands operands);
    Piece made(StepId id, const StepWords& words, Operands operands);

    CModule& module_;
    const Form& form_;
    std::vector<StepId> aliases_;  // by step: the step with the same text
    std::vector<unsigned> uses_;
    std::vector<std::uint16_t> numbers_;  // by step: the number in its variable's name
    bool for_all_ = false;                // whether some step is a subgroup operation
};

bool FormText::is_expression() const {
    for (StepId id = 0; id < uses_.size(); ++id) {
        const Step& step = form_.steps[id];
        const bool repeated = step.how == Step::How::Literal ||
                              (form_.repeats_operands && step.how == Step::How::Operand);
        if (step.name != nullptr || (uses_[id] > 1 && !repeated)) return false;
    }
    const bool alone = ir::op_subgroup(form_.steps[result()].op);
    return !form_.function && !form_.hides && (!for_all_ || alone);
}

Piece FormText::piece(StepId id, const StepWords& words, Operands operands) {
    id = aliases_[id];
    if (operands.empty() && declared(id)) return {name(id)};
    return made(id, words, operands);
}

Piece FormText::made(StepId id, const StepWords& words, Operands operands) {
    const Step& step = form_.steps[id];
    if (step.how == Step::How::Operand)
        return {operands.empty() ? std::string(1, "abc"[step.extra]) : operands[step.extra]};
    if (step.how == Step::How::Literal) {
        const bool small = ir::Type{step.kind, 1}.integer() && step.extra < 0x7fffffffU;
        return {module_.literal(step.kind, step.extra), kAtom, small};
    }
    std::array<Piece, middle::kMostParts> parts;
    for (unsigned k = 0; k < step.count; ++k) parts[k] = piece(step.parts[k], words, operands);
    const auto v = std::span<const Piece>(parts).first(step.count);
    if (step.how == Step::How::Word) return words.word(step, v);
    if (step.how == Step::How::Hidden)
        return words.infix(Op::XOR, v[0], {std::string(1, "abc"[form_.operands])});
    std::vector<std::string> texts;
    for (const Piece& part : v) texts.push_back(part.text);
    return {c_form(module_, static_cast<FormKey>(step.extra), texts)};
}

std::string FormText::body() {
    const StepWords words(module_, false);
    std::string text;
    for (StepId id = 0; id < form_.steps.size(); ++id)
        if (declared(id))
            text += "    const " + std::string(module_.use_type(form_.steps[id].kind)) + " " +
                    name(id) + " = " + made(id, words, {}).text + ";\n";
    return text + "    return " + made(result(), words, {}).text + ";\n";
}

std::string call_of(const Form& form, Operands operands) {
    return call("wye_" + form.name, operands);
}

void add_helper(CModule& module, const Form& form, const std::string& body) {
    const std::string type(module.use_type(form.result().kind));
    std::vector<std::string> arguments;
    for (unsigned k = 0; k < form.operands + (form.hides ? 1 : 0); ++k)
        arguments.push_back("const " +
                            std::string(module.use_type(form.takes[k < form.operands ? k : 0])) +
                            " " + "abc"[k]);
    module.add_helper("wye_" + form.name,
                      type + " " + call_of(form, arguments) + " {\n" + body + "}\n");
}

// The ways to write a form.
constexpr std::uint8_t kUnknown = 0, kHelper = 1, kExpression = 2;

std::string spelled(CModule& module, FormKey key, Operands operands) {
    const Form* form = module.forms.find(key);
    if (form == nullptr) return {};
    std::uint8_t& style = module.form_styles[key];
    if (style == kHelper) return call_of(*form, operands);
    FormText text(module, *form);
    if (style == kUnknown) {
        const std::string own = module.spelling.own(key, module.facts.quirks);
        style = own.empty() && text.is_expression() ? kExpression : kHelper;
        if (style == kHelper) add_helper(module, *form, own.empty() ? text.body() : own);
    }
    return style == kHelper ? call_of(*form, operands) : text.expression(operands);
}

// Returns the value of a text that is an integer literal ("7u", "0xffffffffu"), else nothing.
std::optional<std::uint64_t> literal_value(const std::string& text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    std::size_t used = 0;
    const bool hex = text.rfind("0x", 0) == 0;
    std::uint64_t value = 0;
    for (used = hex ? 2 : 0; used < text.size(); ++used) {
        const char c = text[used];
        const int digit = c >= '0' && c <= '9'          ? c - '0'
                          : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                        : -1;
        if (digit < 0) break;
        value = value * (hex ? 16 : 10) + static_cast<unsigned>(digit);
    }
    if (used < text.size() && text[used] != 'u') return std::nullopt;
    return value;
}

std::string plain(CModule& module, Op op, Kind kind, const std::string& a, const std::string& b) {
    const Step step{
        .op = op, .kind = op >= Op::EQ && op <= Op::GE ? Kind::BOOL : kind, .from = kind};
    const Piece v[] = {{a}, {b}};
    return StepWords(module, true).word(step, v).text;
}

std::string exact_operation(CModule& module, Op op, Kind kind, Operands v) {
    if (middle::is_plain(op, kind))
        return plain(module, op, kind, v[0], v.size() > 1 ? v[1] : std::string());
    if (middle::asks_for_literal(op, kind))
        if (const auto literal = literal_value(v[1]))
            if (const auto word = module.forms.word_with_literal(op, kind, *literal)) {
                const bool shifts = op == Op::SHL || op == Op::SHR;
                const std::string count = shifts ? std::to_string(*word) + "u" : v[1];
                return plain(module, op, kind, v[0], count);
            }
    std::string text = spelled(module, middle::operation(op, kind), v);
    if (!text.empty()) return text;
    const std::string name =
        kind == Kind::F32 || kind == Kind::F64 ? ir::type_name({kind, 1}) + " " : std::string();
    module.refuse(Error(Code::UNSUPPORTED,
                        fmt::format("{}`{}` is not exact on this device, and this version has no "
                                    "emulation for it",
                                    name, ir::op_text(op)),
                        "Fix: choose another device (the `cpu` device runs every program)",
                        module.program.name));
    return v.empty() ? std::string("0") : v[0];
}

// Calls the dialect's native form of a function. `word` is the name of a function, "/", or, with a
// dot in it, a PTX instruction on f32.
std::string native_function(CModule& module, Op op, Kind kind, Operands v,
                            const std::string& word) {
    if (word == "/") return "(" + v[0] + " / " + v[1] + ")";
    if (word.find('.') == std::string::npos) return call(word, v);
    const std::string name = "wye_near_" + std::string(op == Op::DIV ? "div" : ir::op_text(op)) +
                             "_" + ir::type_name({kind, 1});
    const std::string type(module.use_type(kind));
    if (!module.has_helper(name))
        module.add_helper(name, type + " " + name + "(const " + type + " a" +
                                    (v.size() == 2 ? ", const " + type + " b" : std::string()) +
                                    ") {\n    " + type + " r;\n    asm(\"" + word + " %0, %1" +
                                    (v.size() == 2 ? ", %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b));\n"
                                                   : ";\" : \"=f\"(r) : \"f\"(a));\n") +
                                    "    return r;\n}\n");
    return call(name, v);
}

}  // namespace

middle::Target c_target(const Spelling& spelling, const TargetFacts& facts,
                        std::uint32_t subgroup) {
    middle::Target target;
    target.orders_integers = target.counts32 = target.counts64 = true;
    target.multiplies_high32 = target.multiplies_high64 = true;
    for (std::size_t k = 0; k < target.exact.size(); ++k)
        target.exact[k] = spelling.exact(static_cast<middle::Rounded>(k), facts);
    target.fuses_normals = target.is_exact(middle::Rounded::F32Fma);
    target.rounds_f32 = target.rounds_f64 = target.self_comparison = true;
    target.subgroup = subgroup;
    target.f64 = facts.f64;
    target.adds_f32 = target.adds_f64 = spelling.adds_floats();
    target.casts_pointers = true;
    target.most_together = 8;
    target.most_together_nodes = 96;
    target.unrolls_literal_steps = target.unrolls_by_division = true;
    target.doubles_loops = target.unroll_marks = true;
    target.workgroup_loops = facts.workgroup_loops;
    target.quirks = facts.quirks;
    // CWriter::hide_operands hides the f64 operand for this quirk, so the forms need not do it.
    target.quirks.set(Quirk::NvidiaConstantNarrowing, false);
    return target;
}

std::string scalar_operation(CModule& module, Op op, Kind kind, Operands operands) {
    if (module.natives != 0 && kind != Kind::F16 && (native_bit(op, kind) & module.natives) != 0) {
        const std::string word(native_form(module.spelling.format(), op, kind)->word);
        if (word != "/") module.used.native = true;
        return native_function(module, op, kind, operands, word);
    }
    if (op == Op::RSQRT)  // only in a math definition, which corrects the target's own result
        return native_function(module, op, kind, operands,
                               std::string(module.spelling.near_inverse_root()));
    return exact_operation(module, op, kind, operands);
}

std::string c_form(CModule& module, FormKey key, Operands operands) {
    if (key >= middle::key::kConversions) return spelled(module, key, operands);
    const unsigned number = key % middle::key::kExact;
    const Op op = static_cast<Op>(middle::key::kFirstOperation + number / 16);
    const Kind kind = static_cast<Kind>(number % 16);
    return key < middle::key::kExact ? scalar_operation(module, op, kind, operands)
                                     : exact_operation(module, op, kind, operands);
}

}  // namespace wye::lower
