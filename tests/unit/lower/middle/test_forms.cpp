// SPDX-License-Identifier: Apache-2.0
//
// Tests the middle forms against the oracle. The host's plain arithmetic evaluates each step here,
// after an assertion that the operands are in the domain of the step.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lower/middle/forms.hpp"
#include "lower/middle/library.hpp"
#include "oracle/arithmetic.hpp"
#include "support/random.hpp"

namespace {

using namespace wye;
using ir::Kind;
using ir::Op;
using lower::Quirk;
using lower::QuirkSet;
using lower::middle::Form;
using lower::middle::Forms;
using lower::middle::Step;
using lower::middle::Target;

std::uint64_t mask(Kind kind) {
    return ir::Type{kind, 1}.bits() == 64 ? ~std::uint64_t{0} : 0xffffffffU;
}

// Writers of target code hold integers unsigned, and f16 as f32. The evaluator does the same.
Kind held(Kind kind) { return kind == Kind::F16 ? Kind::F32 : kind; }

template <typename T>
T as(std::uint64_t bits) {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
    else
        return std::bit_cast<T>(bits);
}
template <typename T>
std::uint64_t bits_of(T value) {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<std::uint32_t>(value);
    else
        return std::bit_cast<std::uint64_t>(value);
}

using Parts = std::array<std::uint64_t, lower::middle::kMostParts>;

struct Evaluator {
    Forms& forms;
    bool handed_over = false;  // an emulation was called, which computes the result anew

    std::uint64_t run(const Form& form, std::span<const std::uint64_t> operands);
    std::vector<std::uint64_t> run_lanes(const Form& form,
                                         const std::vector<std::vector<std::uint64_t>>& operands);
    std::uint64_t step(const Step& step, const Parts& v, std::span<const std::uint64_t> operands);
    std::uint64_t word(const Step& step, const Parts& v);
    std::uint64_t integer(const Step& step, const Parts& v);
    template <typename T>
    std::uint64_t floating(const Step& step, const Parts& v);
    std::uint64_t convert(const Step& step, std::uint64_t value);
};

std::uint64_t Evaluator::integer(const Step& step, const Parts& v) {
    const bool is_signed = ir::Type{step.from, 1}.signed_integer();
    const unsigned bits = ir::Type{step.from, 1}.bits();
    const std::uint64_t a = v[0], b = v[1];
    const auto signed_of = [&](std::uint64_t x) {
        return oracle::to_signed(static_cast<unsigned>(bits == 64 ? Kind::I64 : Kind::I32), x);
    };
    const auto order = [&] { return is_signed ? signed_of(a) <=> signed_of(b) : a <=> b; };
    switch (step.op) {
        case Op::ADD:
            return a + b;
        case Op::SUB:
            return a - b;
        case Op::MUL:
            return a * b;
        case Op::DIV:
        case Op::REM:
            REQUIRE(b != 0);
            if (is_signed) {
                const bool overflows = a == std::uint64_t{1} << (bits - 1) && b == mask(step.from);
                REQUIRE_FALSE(overflows);
                return static_cast<std::uint64_t>(step.op == Op::DIV ? signed_of(a) / signed_of(b)
                                                                     : signed_of(a) % signed_of(b));
            }
            return step.op == Op::DIV ? a / b : a % b;
        case Op::AND:
            return a & b;
        case Op::OR:
            return a | b;
        case Op::XOR:
            return a ^ b;
        case Op::NOT:
            return ~a;
        case Op::SHL:
        case Op::SHR:
            REQUIRE(b < bits);
            if (step.op == Op::SHL) return a << b;
            return is_signed ? static_cast<std::uint64_t>(signed_of(a) >> b) : a >> b;
        case Op::EQ:
            return a == b;
        case Op::NE:
            return a != b;
        case Op::LT:
            return order() < 0;
        case Op::LE:
            return order() <= 0;
        case Op::GT:
            return order() > 0;
        case Op::GE:
            return order() >= 0;
        default: {  // operations of the target that mean the same as the language's
            const auto kind = static_cast<std::uint8_t>(step.from);
            const oracle::Value both[] = {{{kind, 1}, a & mask(step.from)},
                                          {{kind, 1}, b & mask(step.from)}};
            return oracle::apply(static_cast<std::uint32_t>(step.op), 0,
                                 std::span(both).first(step.count))
                .c[0];
        }
    }
}

template <typename T>
std::uint64_t Evaluator::floating(const Step& step, const Parts& v) {
    const T a = as<T>(v[0]), b = as<T>(v[1]), c = as<T>(v[2]);
    switch (step.op) {
        case Op::ADD:
            return bits_of<T>(a + b);
        case Op::SUB:
            return bits_of<T>(a - b);
        case Op::MUL:
            return bits_of<T>(a * b);
        case Op::DIV:
            return bits_of<T>(a / b);
        case Op::SQRT:
            return bits_of<T>(std::sqrt(a));
        case Op::RSQRT:  // up to 4 ulp off
            REQUIRE(forms.target().near_inverse_root);
            return bits_of<T>(1 / std::sqrt(a)) + (v[0] >> 3U) % 9 - 4;
        case Op::FMA:
            return bits_of<T>(std::fma(a, b, c));
        case Op::FLOOR:
            return bits_of<T>(std::floor(a));
        case Op::CEIL:
            return bits_of<T>(std::ceil(a));
        case Op::TRUNC:
            return bits_of<T>(std::trunc(a));
        case Op::ROUND:
            return bits_of<T>(std::nearbyint(a));
        case Op::EQ:
            return a == b;
        case Op::NE:
            return a != b;
        case Op::LT:
            return a < b;
        case Op::LE:
            return a <= b;
        case Op::GT:
            return a > b;
        case Op::GE:
            return a >= b;
        default:
            FAIL("no word: ", ir::op_text(step.op));
            return 0;
    }
}

std::uint64_t Evaluator::convert(const Step& step, std::uint64_t value) {
    const ir::Type from{step.from, 1}, to{step.kind, 1};
    if (from.floating() && to.integer()) {  // C must define this conversion
        const double x = step.from == Kind::F64 ? as<double>(value) : as<float>(value);
        const double end = std::ldexp(1.0, static_cast<int>(to.bits()) - to.signed_integer());
        REQUIRE(std::trunc(x) < end);
        REQUIRE(std::trunc(x) >= (to.signed_integer() ? -end : 0.0));
    }
    return oracle::convert(static_cast<unsigned>(step.kind), static_cast<unsigned>(step.from),
                           value);
}

std::uint64_t Evaluator::word(const Step& step, const Parts& v) {
    if (step.op == Op::SELECT) return v[0] != 0 ? v[1] : v[2];
    if (step.op == Op::BITCAST) return v[0];
    if (step.op == Op::CONVERT) return convert(step, v[0]);
    switch (held(step.from)) {
        case Kind::BOOL:
            if (step.op == Op::LOGICAL_NOT) return v[0] == 0;
            if (step.op == Op::LOGICAL_AND) return v[0] & v[1];
            if (step.op == Op::LOGICAL_OR) return v[0] | v[1];
            return (v[0] == v[1]) == (step.op == Op::EQ);
        case Kind::F32:
            return floating<float>(step, v);
        case Kind::F64:
            return floating<double>(step, v);
        default:
            return integer(step, v);
    }
}

// Evaluates a step that is not a move between lanes.
std::uint64_t Evaluator::step(const Step& step, const Parts& v,
                              std::span<const std::uint64_t> operands) {
    std::uint64_t out = 0;
    switch (step.how) {
        case Step::How::Operand:
            out = operands[step.extra];
            break;
        case Step::How::Literal:
            out = step.extra;
            break;
        case Step::How::Word:
            out = word(step, v);
            break;
        case Step::How::Form: {
            const Form* inner = forms.find(static_cast<lower::middle::FormKey>(step.extra));
            REQUIRE(inner != nullptr);
            out = run(*inner, std::span(v).first(step.count));
            break;
        }
        case Step::How::Call:  // of an emulation: its last parts are `certain` and the result
            out = v[step.count - 1U];
            if (v[step.count - 2U] != 0) break;
            handed_over = true;
            if (step.extra == lower::middle::emulation_index("quotient_or_div32"))
                out = bits_of<float>(as<float>(v[0]) / as<float>(v[1]));
            else if (step.extra == lower::middle::emulation_index("root_or_sqrt32"))
                out = bits_of<float>(std::sqrt(as<float>(v[0])));
            else if (step.extra == lower::middle::emulation_index("inverse_root_or_rsqrt32"))
                out = bits_of(static_cast<float>(1 / std::sqrt(double{as<float>(v[0])})));
            else if (step.extra == lower::middle::emulation_index("fused_or_fma32"))
                out = bits_of(std::fma(as<float>(v[0]), as<float>(v[1]), as<float>(v[2])));
            else
                FAIL("no emulations here");
            break;
        case Step::How::Hidden:
            out = v[0];
            break;
    }
    return step.kind == Kind::BOOL ? out : out & mask(held(step.kind));
}

std::uint64_t Evaluator::run(const Form& form, std::span<const std::uint64_t> operands) {
    CHECK(form.steps.size() <= lower::middle::kMostSteps);
    std::vector<std::uint64_t> values;
    for (const Step& each : form.steps) {
        Parts v{};
        for (unsigned k = 0; k < each.count; ++k) v[k] = values.at(each.parts[k]);
        values.push_back(step(each, v, operands));
    }
    return values.back();
}

using Lanes = std::vector<std::uint64_t>;

// Evaluates a form for all lanes of a subgroup, step by step.
Lanes Evaluator::run_lanes(const Form& form, const std::vector<Lanes>& operands) {
    CHECK(form.steps.size() <= lower::middle::kMostSteps);
    const std::size_t width = operands[0].size();
    std::vector<Lanes> values;
    for (const Step& each : form.steps) {
        Lanes out(width);
        for (std::size_t lane = 0; lane < width; ++lane) {
            Parts v{};
            for (unsigned k = 0; k < each.count; ++k) v[k] = values.at(each.parts[k])[lane];
            const auto of = [&](std::uint64_t other) {
                REQUIRE(other < width);
                return values.at(each.parts[0])[other];
            };
            std::vector<std::uint64_t> given;
            for (const Lanes& operand : operands) given.push_back(operand[lane]);
            const auto vote = [&](bool all) {
                std::size_t yes = 0;
                for (std::size_t k = 0; k < width; ++k) yes += of(k);
                return all ? yes == width : yes != 0;
            };
            if (each.op == Op::SUBGROUP_SHUFFLE)
                out[lane] = of(v[1]);
            else if (each.op == Op::SUBGROUP_SHUFFLE_XOR)
                out[lane] = of(lane ^ v[1]);
            else if (each.op == Op::SUBGROUP_ANY || each.op == Op::SUBGROUP_ALL)
                out[lane] = vote(each.op == Op::SUBGROUP_ALL) ? 1 : 0;
            else if (each.op == Op::SUBGROUP_BALLOT)
                for (std::size_t k = 0; k < 32 && v[1] * 32 + k < width; ++k)
                    out[lane] |= of(v[1] * 32 + k) << k;
            else
                out[lane] = step(each, v, given);
        }
        values.push_back(out);
    }
    return values.back();
}

// Returns a value as memory and programs see it: NaNs are canonical.
std::uint64_t seen(Kind kind, std::uint64_t bits) {
    return kind == Kind::BOOL ? bits : oracle::canonical(static_cast<unsigned>(held(kind)), bits);
}
// Returns a value as a writer holds it.
std::uint64_t hold(Kind kind, std::uint64_t bits) {
    return kind == Kind::F16 ? oracle::convert(WYE_KIND_F32, WYE_KIND_F16, bits) : bits;
}

std::uint64_t random_value(support::Random& random, Kind kind) {
    if (kind == Kind::BOOL) return random.below(2);
    return support::random_scalar(random, static_cast<unsigned>(kind));
}

struct Named {
    const char* name;
    Target target;
};

std::vector<Named> targets() {
    Target bare;  // plain arithmetic and nothing else
    bare.exact = {false, false, false, true, true, true};
    bare.rounds_f32 = bare.rounds_f64 = true;
    Target rich;
    rich.orders_integers = rich.counts32 = rich.counts64 = rich.reverses32 = true;
    rich.multiplies_high32 = rich.multiplies_high64 = rich.self_comparison = true;
    rich.exact.fill(true);
    rich.rounds_f32 = rich.rounds_f64 = true;
    Target words = bare;  // with words of 32 bits
    words.rotates_by_literals = words.counts32 = words.reverses32 = words.multiplies_high32 =
        words.sign_by_word = true;
    words.quirks = QuirkSet::all();
    words.quirks.set(Quirk::NvidiaVkWideDivision, false);  // calls an emulation
    words.quirks.set(Quirk::NvidiaVkDivisionCall, false);
    Target start = bare;  // has an inverse square root, and fma only of f64
    start.near_inverse_root = start.emulates = true;
    Target fused = start;
    fused.exact[static_cast<std::size_t>(lower::middle::Rounded::F32Fma)] = true;
    fused.fuses_normals = true;
    fused.multiplies_high32 = true;
    Target normals = start;
    normals.fuses_normals = true;
    return {{"bare", bare},   {"rich", rich},   {"words", words},
            {"start", start}, {"fused", fused}, {"normals", normals}};
}

constexpr Kind kKinds[] = {Kind::BOOL, Kind::I32, Kind::U32, Kind::I64,
                           Kind::U64,  Kind::F16, Kind::F32, Kind::F64};

bool takes(Op op, Kind kind) {
    const ir::Type type{kind, 1};
    switch (op) {
        case Op::LOGICAL_NOT:
        case Op::LOGICAL_AND:
        case Op::LOGICAL_OR:
            return type.boolean();
        case Op::EQ:
        case Op::NE:
            return true;
        case Op::NEG:
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
            return !type.boolean();
        case Op::ABS:
            return type.signed_integer() || type.floating();
        case Op::SQRT:
        case Op::FMA:
        case Op::COPYSIGN:
        case Op::FLOOR:
        case Op::CEIL:
        case Op::TRUNC:
        case Op::ROUND:
        case Op::ISNAN:
        case Op::ISINF:
            return type.floating();
        default:
            return type.integer();
    }
}

}  // namespace

TEST_CASE("forms of operations give what the language says, and leave no domain") {
    for (const Named& each : targets()) {
        const std::string name = each.name;
        const Target& target = each.target;
        Forms forms(target);
        Evaluator evaluator{forms};
        support::Random random(14);
        for (unsigned code = WYE_OP_NEG; code <= WYE_OP_ISINF; ++code) {
            const Op op = static_cast<Op>(code);
            if (!ir::op_known(code)) continue;
            for (const Kind kind : kKinds) {
                if (!takes(op, kind)) continue;
                CAPTURE(name);
                CAPTURE(ir::op_text(op));
                CAPTURE(ir::type_name({kind, 1}));
                const Form* form = forms.find(lower::middle::operation(op, kind));
                REQUIRE(form != nullptr);
                const auto count = static_cast<unsigned>(ir::op_operands(op));
                REQUIRE(form->operands == count);
                const bool shifts =
                    op == Op::SHL || op == Op::SHR || op == Op::ROTL || op == Op::ROTR;
                for (int i = 0; i < 400; ++i) {
                    std::vector<oracle::Value> given;
                    std::vector<std::uint64_t> operands;
                    for (unsigned k = 0; k < count; ++k) {
                        const Kind of = shifts && k == 1 ? Kind::U32 : kind;
                        const std::uint64_t bits =
                            oracle::canonical(static_cast<unsigned>(of), random_value(random, of));
                        given.push_back({{static_cast<std::uint8_t>(of), 1}, bits});
                        operands.push_back(hold(of, bits));
                    }
                    const oracle::Value right = oracle::apply(code, 0, given);
                    const Kind result = static_cast<Kind>(right.type.kind);
                    const std::uint64_t expected = seen(result, hold(result, right.c[0]));
                    CAPTURE(operands[0]);
                    CAPTURE(operands.back());
                    CHECK(seen(result, evaluator.run(*form, operands)) == expected);
                    if (!lower::middle::asks_for_literal(op, kind)) continue;
                    const std::uint64_t literal = operands[1];
                    if (const auto word = forms.word_with_literal(op, kind, literal)) {
                        const Step step{.op = op, .kind = kind, .from = kind, .count = 2};
                        const std::uint64_t out = evaluator.word(step, {operands[0], *word});
                        CHECK((out & mask(kind)) == expected);
                    }
                    const Form* special = forms.with_literal(op, kind, literal);
                    if (special != nullptr && op != Op::SHL && op != Op::SHR)
                        CHECK(evaluator.run(*special, std::span(operands).first(1)) == expected);
                }
            }
        }
    }
}

TEST_CASE("quotients and roots of f32 from an inverse square root that is up to 4 ulp off") {
    for (const Named& each : targets()) {
        if (!each.target.near_inverse_root) continue;
        Forms forms(each.target);
        const Form* divide = forms.find(lower::middle::operation(Op::DIV, Kind::F32));
        const Form* root = forms.find(lower::middle::operation(Op::SQRT, Kind::F32));
        const Form* inverse = forms.find(lower::middle::key::kInverseRoot);
        REQUIRE((divide != nullptr && root != nullptr && inverse != nullptr));
        support::Random random(15);
        unsigned handed_over = 0;
        for (int i = 0; i < 20000; ++i) {
            Evaluator evaluator{forms};
            const auto value = [&](int exponent) {
                const auto bits = static_cast<std::uint32_t>(random.next());
                return std::ldexp(as<float>((bits & 0x807fffffU) | 0x3f800000U), exponent);
            };
            // In every fourth iteration any operands, else ordinary ones.
            const bool any = i % 4 == 0;
            const auto exponent = [&] { return static_cast<int>(random.between(-40, 40)); };
            const float a = any ? as<float>(random_value(random, Kind::F32)) : value(exponent());
            const float b = any ? as<float>(random_value(random, Kind::F32)) : value(exponent());
            const auto run = [&](const Form* form, std::initializer_list<std::uint64_t> operands) {
                const std::vector<std::uint64_t> given(operands);
                return seen(Kind::F32, evaluator.run(*form, given));
            };
            const auto right = [](float x) { return seen(Kind::F32, bits_of(x)); };
            CAPTURE(each.name);
            CAPTURE(a);
            CAPTURE(b);
            CHECK(run(divide, {bits_of(a), bits_of(b)}) == right(a / b));
            CHECK(run(root, {bits_of(a)}) == right(std::sqrt(a)));
            CHECK(run(root, {bits_of(std::fabs(a))}) == right(std::sqrt(std::fabs(a))));
            if (!any && evaluator.handed_over) ++handed_over;
            const double x = a;
            CHECK(run(inverse, {bits_of(a)}) == right(static_cast<float>(1 / std::sqrt(x))));
        }
        // A negative operand of a root is not ordinary, so half of the iterations call an
        // emulation.
        CHECK(handed_over < 8000);
        CHECK(handed_over > 7000);
    }
}

TEST_CASE("forms of conversions give what the language says") {
    for (const Named& each : targets()) {
        const std::string name = each.name;
        const Target& target = each.target;
        Forms forms(target);
        Evaluator evaluator{forms};
        support::Random random(15);
        for (const Kind from : kKinds)
            for (const Kind to : kKinds) {
                if (to == Kind::BOOL) continue;
                CAPTURE(name);
                CAPTURE(ir::type_name({from, 1}));
                CAPTURE(ir::type_name({to, 1}));
                const Form* form = forms.find(lower::middle::conversion(from, to));
                REQUIRE(form != nullptr);
                for (int i = 0; i < 600; ++i) {
                    const std::uint64_t bits = random_value(random, from);
                    const std::uint64_t held_bits = hold(from, bits);
                    const std::uint64_t right = oracle::convert(static_cast<unsigned>(to),
                                                                static_cast<unsigned>(from), bits);
                    CAPTURE(bits);
                    CHECK(seen(to, evaluator.run(*form, std::span(&held_bits, 1))) ==
                          seen(to, hold(to, right)));
                }
            }
    }
}

TEST_CASE("forms of what memory holds") {
    using lower::middle::loaded;
    using lower::middle::stored;
    for (const Named& each : targets()) {
        const std::string name = each.name;
        const Target& target = each.target;
        CAPTURE(name);
        Forms forms(target);
        Evaluator evaluator{forms};
        const auto apply = [&](lower::middle::FormKey key, std::uint64_t value) {
            return evaluator.run(*forms.find(key), std::span(&value, 1));
        };
        for (std::uint32_t bits = 0; bits < 65536; ++bits) {
            const std::uint64_t half = hold(Kind::F16, bits);
            CHECK(seen(Kind::F32, apply(loaded(Kind::F16), bits)) == seen(Kind::F32, half));
            CHECK(apply(stored(Kind::F16), half) == oracle::canonical(WYE_KIND_F16, bits));
            CHECK(apply(loaded(Kind::BF16), bits) == std::uint64_t{bits} << 16U);
        }
        support::Random random(16);
        for (int i = 0; i < 5000; ++i) {
            const std::uint64_t narrow = support::random_scalar(random, WYE_KIND_F32);
            const std::uint64_t wide = support::random_scalar(random, WYE_KIND_F64);
            CHECK(apply(stored(Kind::F32), narrow) == oracle::canonical(WYE_KIND_F32, narrow));
            CHECK(apply(stored(Kind::F64), wide) == oracle::canonical(WYE_KIND_F64, wide));
            CHECK(apply(stored(Kind::BF16), narrow) == oracle::bf16_from_float(as<float>(narrow)));
        }
    }
}

// Compares with arithmetic on integers of 128 bits, in which nothing overflows.
TEST_CASE("the arithmetic of counted loops") {
    using lower::middle::LoopPart;
    __extension__ typedef __int128 Number;
    for (const Named& each : targets()) {
        Forms forms(each.target);
        Evaluator evaluator{forms};
        support::Random random(17);
        for (const Kind kind : {Kind::I32, Kind::U32, Kind::I64, Kind::U64}) {
            CAPTURE(std::string(each.name));
            CAPTURE(ir::type_name({kind, 1}));
            const bool is_signed = ir::Type{kind, 1}.signed_integer();
            const unsigned bits = ir::Type{kind, 1}.bits();
            const auto number = [&](std::uint64_t x) {
                return is_signed ? Number{oracle::to_signed(static_cast<unsigned>(kind), x)}
                                 : Number{x};
            };
            const auto apply = [&](lower::middle::FormKey key, std::vector<std::uint64_t> v) {
                return evaluator.run(*forms.find(key), v) & mask(kind);
            };
            const auto part = [&](LoopPart which, std::vector<std::uint64_t> v) {
                return apply(lower::middle::loop_part(which, kind), std::move(v));
            };
            const Number least = is_signed ? -(Number{1} << (bits - 1)) : Number{0};
            for (int i = 0; i < 2000; ++i) {
                const std::uint64_t first = random_value(random, kind);
                const std::uint64_t end = random_value(random, kind);
                const std::uint64_t given = random_value(random, kind);
                CAPTURE(first);
                CAPTURE(end);
                CAPTURE(given);
                const std::uint64_t step = part(LoopPart::AtLeastOne, {given});
                CHECK(number(step) == std::max(number(given), Number{1}));
                const auto rounds = [&](std::uint64_t from, std::uint64_t by) {
                    const Number span = number(end) - number(from);
                    return static_cast<std::uint64_t>(span > 0 ? (span - 1) / number(by) + 1 : 0);
                };
                using lower::middle::loop_rounds;
                CHECK(apply(loop_rounds(kind, false, false), {first, end, step}) ==
                      rounds(first, step));
                CHECK(apply(loop_rounds(kind, true, false), {end, step}) == rounds(0, step));
                CHECK(apply(loop_rounds(kind, false, true), {first, end}) == rounds(first, 1));
                CHECK(apply(loop_rounds(kind, true, true), {end}) == rounds(0, 1));
                for (const unsigned group : {4U, 8U}) {
                    const std::uint64_t jump = step * group & mask(kind);
                    const Number stop =
                        number(apply(lower::middle::group_stop(kind, group), {end, step, jump}));
                    // No group starts where one of its iterations would pass the end.
                    const Number distance = number(step) * group;
                    const bool held = distance <= number(mask(kind) >> (is_signed ? 1U : 0U));
                    CHECK(stop == (held ? std::max(number(end) - distance, least) : least));
                }
                if (number(first) < number(end))
                    CHECK((part(LoopPart::Last, {first, end, step}) != 0) ==
                          (number(first) + number(step) >= number(end)));
                CHECK(part(LoopPart::EndInLength, {end, given}) == std::min(end, given));
                const bool negative = number(first) < 0 || number(given) < 0;
                CHECK(number(part(LoopPart::EndIfNotNegative, {end, first, given})) ==
                      (negative ? least : number(end)));
            }
        }
    }
}

TEST_CASE("sums for compare and swap") {
    for (const Named& each : targets()) {
        Forms forms(each.target);
        Evaluator evaluator{forms};
        support::Random random(18);
        for (int i = 0; i < 2000; ++i) {
            std::uint64_t v[] = {support::random_scalar(random, WYE_KIND_F32),
                                 support::random_scalar(random, WYE_KIND_F32)};
            const lower::middle::FormKey narrow = lower::middle::added_bits(Kind::F32);
            CHECK(seen(Kind::F32, evaluator.run(*forms.find(narrow), v)) ==
                  seen(Kind::F32, bits_of(as<float>(v[0]) + as<float>(v[1]))));
            for (std::uint64_t& bits : v) bits = support::random_scalar(random, WYE_KIND_F64);
            const lower::middle::FormKey wide = lower::middle::added_bits(Kind::F64);
            CHECK(seen(Kind::F64, evaluator.run(*forms.find(wide), v)) ==
                  seen(Kind::F64, bits_of(as<double>(v[0]) + as<double>(v[1]))));
        }
    }
}

TEST_CASE("forms of bitcasts between one component and two") {
    using lower::middle::bitcast_part;
    using Part = lower::middle::BitcastPart;
    Forms forms(targets()[0].target);
    Evaluator evaluator{forms};
    const auto apply = [&](Part part, std::vector<std::uint64_t> operands) {
        return evaluator.run(*forms.find(bitcast_part(part)), operands);
    };
    CHECK(apply(Part::LowWord, {0x1122334455667788U}) == 0x55667788U);
    CHECK(apply(Part::HighWord, {0x1122334455667788U}) == 0x11223344U);
    CHECK(apply(Part::JoinWords, {0x55667788U, 0x11223344U}) == 0x1122334455667788U);
    CHECK(apply(Part::LowHalf, {0x3c00c000U}) == bits_of(-2.0F));
    CHECK(apply(Part::HighHalf, {0x3c00c000U}) == bits_of(1.0F));
    CHECK(apply(Part::Halves, {bits_of(-2.0F), bits_of(1.0F)}) == 0x3c00c000U);
}

TEST_CASE("forms of subgroup operations") {
    using lower::middle::subgroup;
    for (const std::uint32_t width : {4U, 32U, 128U})
        for (const bool words : {false, true}) {
            CAPTURE(width);
            CAPTURE(words);
            Target target = targets()[1].target;
            target.subgroup = width;
            target.shuffles_words_only = target.votes = words;
            Forms forms(target);
            Evaluator evaluator{forms};
            support::Random random(width);
            Lanes number(width), lane(width), truth(width), wide(width), real(width);
            for (std::uint32_t k = 0; k < width; ++k) {
                number[k] = random.next() & 0xffffffffU;
                wide[k] = random.next();
                real[k] = bits_of(static_cast<double>(random.below(1000)));
                lane[k] = k;
                truth[k] = random.below(2);
            }
            const auto run = [&](Op op, Kind kind, const std::vector<Lanes>& operands) {
                return evaluator.run_lanes(*forms.find(subgroup(op, kind)), operands);
            };
            const Lanes inclusive = run(Op::SUBGROUP_INCLUSIVE_ADD, Kind::U64, {wide, lane});
            const Lanes exclusive = run(Op::SUBGROUP_EXCLUSIVE_ADD, Kind::F64, {real, lane});
            const Lanes sum = run(Op::SUBGROUP_ADD, Kind::U32, {number});
            const Lanes most = run(Op::SUBGROUP_MAX, Kind::I64, {wide});
            const Lanes bits = run(Op::SUBGROUP_OR, Kind::U64, {wide});
            const Lanes any = run(Op::SUBGROUP_ANY, Kind::BOOL, {truth});
            const Lanes none = run(Op::SUBGROUP_ANY, Kind::BOOL, {Lanes(width, 0)});
            const Lanes all = run(Op::SUBGROUP_ALL, Kind::BOOL, {truth});
            const Lanes every = run(Op::SUBGROUP_ALL, Kind::BOOL, {Lanes(width, 1)});
            const Lanes moved = run(Op::SUBGROUP_SHUFFLE, Kind::F64, {real, number});
            const Lanes across = run(Op::SUBGROUP_SHUFFLE_XOR, Kind::U64, {wide, number});
            std::uint64_t total = 0, before = 0, joined = 0;
            std::uint32_t narrow = 0;
            double below = 0;
            std::int64_t greatest = INT64_MIN;
            bool yes = false, no = false;
            for (std::uint32_t k = 0; k < width; ++k) {
                narrow += static_cast<std::uint32_t>(number[k]);
                joined |= wide[k];
                greatest = std::max(greatest, static_cast<std::int64_t>(wide[k]));
                yes = yes || truth[k] != 0;
                no = no || truth[k] == 0;
            }
            for (std::uint32_t k = 0; k < width; ++k) {
                total = before += wide[k];
                CHECK(inclusive[k] == total);
                CHECK(exclusive[k] == bits_of(below));
                below += as<double>(real[k]);
                CHECK(sum[k] == narrow);
                CHECK(most[k] == static_cast<std::uint64_t>(greatest));
                CHECK(bits[k] == joined);
                CHECK(any[k] == yes);
                CHECK(none[k] == 0);
                CHECK(all[k] == !no);
                CHECK(every[k] == 1);
                CHECK(moved[k] == real[number[k] % width]);
                CHECK(across[k] == wide[k ^ number[k] % width]);
            }
        }
}
