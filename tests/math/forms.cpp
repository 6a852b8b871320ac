// SPDX-License-Identifier: Apache-2.0
#include "forms.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <deque>

namespace exhaust {
namespace {

using wye::ir::Kind;
using wye::ir::Op;
using wye::lower::middle::Form;
using wye::lower::middle::Step;
using wye::lower::middle::Target;

Target target(bool fused) {
    Target out;
    out.emulates = out.near_inverse_root = out.multiplies_high32 = true;
    out.f64 = false;
    out.fuses_normals = fused;
    return out;
}

float value(std::uint32_t bits) { return std::bit_cast<float>(bits); }
// The result on a device that flushes the subnormal results of an fma to zero.
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

template <typename Compute>
void each(std::vector<std::uint32_t>& out, Compute compute) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = compute(i);
}

}  // namespace

FormRunner::FormRunner(bool fused) : forms_(target(fused)) {}

void FormRunner::run(wye::lower::middle::FormKey key, std::span<const std::uint32_t> a,
                     std::span<const std::uint32_t> b, std::uint32_t offset,
                     std::vector<std::uint32_t>& results, std::span<const std::uint32_t> c) {
    const Form* form = forms_.find(key);
    REQUIRE(form != nullptr);
    offset_ = offset;
    constexpr std::size_t kBlock = 1024;
    results.resize(a.size());
    for (std::size_t first = 0; first < a.size(); first += kBlock) {
        count_ = std::min(kBlock, a.size() - first);
        const auto lanes = [&](std::span<const std::uint32_t> all) {
            const auto part = all.empty() ? all : all.subspan(first, count_);
            return Lanes(part.begin(), part.end());
        };
        const Lanes x = lanes(a), y = lanes(b), z = lanes(c);
        Lanes out;
        evaluate(*form, {&x, &y, &z}, out);
        std::copy(out.begin(), out.end(), results.begin() + static_cast<std::ptrdiff_t>(first));
    }
}

void FormRunner::evaluate(const Form& form, const std::vector<const Lanes*>& operands, Lanes& out) {
    std::deque<Lanes> values;
    for (const Step& step : form.steps) {
        const auto part = [&](unsigned k) -> const Lanes& { return values[step.parts[k]]; };
        Lanes made(count_);
        if (step.how == Step::How::Operand) {
            made = *operands[step.extra];
        } else if (step.how == Step::How::Literal) {
            each(made, [&](std::size_t) { return static_cast<std::uint32_t>(step.extra); });
        } else if (step.how == Step::How::Form) {
            std::vector<const Lanes*> given;
            for (unsigned k = 0; k < step.count; ++k) given.push_back(&part(k));
            const Form* inner = forms_.find(static_cast<wye::lower::middle::FormKey>(step.extra));
            REQUIRE(inner != nullptr);
            evaluate(*inner, given, made);
        } else if (step.how == Step::How::Call) {
            // The last parts: whether the result is certain, and the result. NaN: the emulation
            // computes it.
            const Lanes &certain = part(step.count - 2U), &result = part(step.count - 1U);
            each(made, [&](std::size_t i) { return certain[i] != 0 ? result[i] : 0x7fc00000U; });
        } else if (step.how == Step::How::Hidden || step.op == Op::BITCAST) {
            made = part(0);
        } else if (step.op == Op::SELECT) {
            const Lanes &c = part(0), &a = part(1), &b = part(2);
            each(made, [&](std::size_t i) { return c[i] != 0 ? a[i] : b[i]; });
        } else {
            const Lanes& a = part(0);
            const Lanes& b = part(step.count > 1 ? 1 : 0);
            const Lanes& c = part(step.count > 2 ? 2 : 0);
            const bool real = step.from == Kind::F32, is_signed = step.from == Kind::I32;
            const auto floats = [&](auto compute) {
                each(made, [&](std::size_t i) { return compute(value(a[i]), value(b[i])); });
            };
            const auto words = [&](auto compute) {
                each(made, [&](std::size_t i) { return compute(a[i], b[i]); });
            };
            switch (step.op) {
                case Op::ADD:
                    if (real)
                        floats([](float x, float y) { return bits(x + y); });
                    else
                        words([](auto x, auto y) { return x + y; });
                    break;
                case Op::SUB:
                    if (real)
                        floats([](float x, float y) { return bits(x - y); });
                    else
                        words([](auto x, auto y) { return x - y; });
                    break;
                case Op::MUL:
                    if (real)
                        floats([](float x, float y) { return bits(x * y); });
                    else
                        words([](auto x, auto y) { return x * y; });
                    break;
                case Op::FMA:
                    REQUIRE(real);
                    each(made, [&](std::size_t i) {
                        return bits(flushed(std::fma(flushed(value(a[i])), flushed(value(b[i])),
                                                     flushed(value(c[i])))));
                    });
                    break;
                case Op::RSQRT:
                    REQUIRE(real);
                    each(made, [&](std::size_t i) {
                        const double x = value(a[i]);
                        return bits(static_cast<float>(1 / std::sqrt(x))) + offset_;
                    });
                    break;
                case Op::MUL_HI:
                    words([](auto x, auto y) {
                        return static_cast<std::uint32_t>(std::uint64_t{x} * y >> 32U);
                    });
                    break;
                case Op::AND:
                    words([](auto x, auto y) { return x & y; });
                    break;
                case Op::OR:
                    words([](auto x, auto y) { return x | y; });
                    break;
                case Op::XOR:
                    words([](auto x, auto y) { return x ^ y; });
                    break;
                case Op::LOGICAL_AND:
                    words([](auto x, auto y) { return x & y; });
                    break;
                case Op::SHL:
                    words([](auto x, auto y) { return x << y; });
                    break;
                case Op::SHR:
                    if (is_signed)
                        words([](auto x, auto y) {
                            return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> y);
                        });
                    else
                        words([](auto x, auto y) { return x >> y; });
                    break;
                case Op::EQ:
                    if (real)
                        floats([](float x, float y) { return x == y ? 1U : 0U; });
                    else
                        words([](auto x, auto y) { return x == y ? 1U : 0U; });
                    break;
                case Op::LT:
                    REQUIRE(!is_signed);
                    if (real)
                        floats([](float x, float y) { return x < y ? 1U : 0U; });
                    else
                        words([](auto x, auto y) { return x < y ? 1U : 0U; });
                    break;
                default:
                    FAIL("no word: ", wye::ir::op_text(step.op));
            }
        }
        values.push_back(std::move(made));
    }
    out = std::move(values.back());
}

}  // namespace exhaust
