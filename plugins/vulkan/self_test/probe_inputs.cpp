// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/probe_inputs.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace wye::vulkan {
namespace {

template <typename Float>
using BitsOf = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

// The generator splitmix64: short, and the same on every platform.
class Random {
  public:
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    // A value with random bits.
    template <typename Float>
    Float any() {
        return std::bit_cast<Float>(static_cast<BitsOf<Float>>(next()));
    }
    // A value in [1, 2) with a random significand.
    template <typename Float>
    Float one_to_two() {
        constexpr int kBits = std::numeric_limits<Float>::digits - 1;
        const auto fraction = static_cast<BitsOf<Float>>(next() >> (64 - kBits));
        return Float{1} + std::ldexp(static_cast<Float>(fraction), -kBits);
    }

  private:
    std::uint64_t state_ = 2026;
};

template <typename Float>
std::vector<Float> special_values() {
    using Limits = std::numeric_limits<Float>;
    const Float tiny = Limits::denorm_min();
    const Float least = Limits::min();
    std::vector<Float> out = {0,
                              tiny,
                              3 * tiny,
                              least / 2,
                              least - tiny,
                              least,
                              least + tiny,
                              2 * least,
                              std::sqrt(least),
                              Limits::epsilon() / 2,
                              Float{1} / 3,
                              Float{1} - Limits::epsilon() / 2,
                              1,
                              Float{1} + Limits::epsilon(),
                              Float{3} / 2,
                              2,
                              3,
                              10,
                              Float{1} / Limits::epsilon(),
                              Limits::max() / 2,
                              Limits::max(),
                              Limits::infinity()};
    const std::size_t positive = out.size();
    for (std::size_t i = 0; i < positive; ++i) out.push_back(-out[i]);
    out.push_back(Limits::quiet_NaN());
    return out;
}

// A value from 1 to 2, halfway between two adjacent values of Float, in a wider format.
template <typename Float>
long double midpoint(Random& random) {
    return static_cast<long double>(random.one_to_two<Float>()) +
           static_cast<long double>(std::numeric_limits<Float>::epsilon()) / 2;
}

// A value of either sign, with a magnitude from 1/8 to above the range of 64-bit integers: a
// fraction, a multiple of 1/2, or a whole number that fits no integer type.
template <typename Float>
Float around_whole(Random& random) {
    const int exponent = static_cast<int>(random.next() % 69) - 3;
    const Float value = std::ldexp(random.one_to_two<Float>(), exponent);
    const std::uint64_t choice = random.next();
    const Float chosen = (choice & 1U) != 0 ? std::trunc(value * 2) / 2 : value;
    return (choice & 2U) != 0 ? -chosen : chosen;
}

}  // namespace

std::vector<ProbeOp> probe_ops(bool f32, bool widen) {
    std::vector<ProbeOp> out;
    for (auto op = ProbeOp::Add; op <= ProbeOp::DivideByZero;
         op = static_cast<ProbeOp>(static_cast<std::uint8_t>(op) + 1)) {
        const bool scales = op == ProbeOp::ScaleUp || op == ProbeOp::ScaleDown;
        if (!scales || (f32 && widen)) out.push_back(op);
    }
    return out;
}

template <typename Float>
ProbeInputs<Float> probe_inputs() {
    ProbeInputs<Float> out;
    const auto add = [&](Float a, Float b, Float c) {
        out.a.push_back(a);
        out.b.push_back(b);
        out.c.push_back(c);
    };
    Random random;
    const std::vector<Float> specials = special_values<Float>();
    for (const Float a : specials)
        for (const Float b : specials) add(a, b, specials[random.next() % specials.size()]);
    while (out.a.size() < kProbeCount) {
        const auto small = random.any<Float>();
        const Float tiny = std::numeric_limits<Float>::min();
        const Float a = random.one_to_two<Float>();
        const Float b = random.one_to_two<Float>();
        switch (out.a.size() % 7) {
            case 0:
                add(random.any<Float>(), random.any<Float>(), random.any<Float>());
                break;
            case 1:
                add(a, b, -(a * b));  // the result of Fma is the rounding error of a * b
                break;
            case 2:  // a / b next to a midpoint
                add(static_cast<Float>(midpoint<Float>(random) * static_cast<long double>(b)), b,
                    a);
                break;
            case 3: {  // the root of a next to a midpoint
                const long double root = midpoint<Float>(random);
                add(static_cast<Float>(root * root), b, -a);
                break;
            }
            case 4:  // around the smallest normal value
                add(a * tiny, b, -(b * tiny));
                break;
            case 5:
                add(around_whole<Float>(random), b, a);
                break;
            default:
                add(a, specials[random.next() % specials.size()], small);
                break;
        }
    }
    return out;
}

template <typename Float>
ProbeInputs<Float> spot_inputs() {
    constexpr std::uint32_t kStride = kProbeCount / kSpotCount;
    const ProbeInputs<Float> all = probe_inputs<Float>();
    ProbeInputs<Float> out;
    for (std::uint32_t i = 0; i < kProbeCount; i += kStride) {
        out.a.push_back(all.a[i]);
        out.b.push_back(all.b[i]);
        out.c.push_back(all.c[i]);
    }
    return out;
}

// The result of an operation on the host.
template <typename Float>
Float probe_result(ProbeOp op, Float a, Float b, Float c) {
    constexpr Float kZero = 0;
    switch (op) {
        case ProbeOp::Add:
            return a + b;
        case ProbeOp::Subtract:
            return a - b;
        case ProbeOp::Multiply:
            return a * b;
        case ProbeOp::Less:
            return a < b ? Float{1} : Float{0};
        case ProbeOp::ScaleUp:
            return static_cast<Float>(static_cast<double>(a) * 0x1p100);
        case ProbeOp::ScaleDown:
            return static_cast<Float>(static_cast<double>(a) * 0x1p-100);
        case ProbeOp::Divide:
            return a / b;
        case ProbeOp::SquareRoot:
            return std::sqrt(a);
        case ProbeOp::Fma:
        case ProbeOp::FmaOfNormals:
            return std::fma(a, b, c);
        case ProbeOp::Floor:
            return std::floor(a);
        case ProbeOp::Ceil:
            return std::ceil(a);
        case ProbeOp::Trunc:
            return std::trunc(a);
        case ProbeOp::RoundEven:
            return std::nearbyint(a);
        case ProbeOp::AddZero:
            return a + kZero;
        case ProbeOp::AddMinusZero:
            return a + -kZero;
        case ProbeOp::SubtractMinusZero:
            return a - -kZero;
        case ProbeOp::SubtractFromZero:
            return kZero - a;
        case ProbeOp::MultiplyZero:
            return a * kZero;
        case ProbeOp::MultiplyMinusZero:
            return a * -kZero;
        case ProbeOp::DivideZero:
            return kZero / a;
        case ProbeOp::DivideByZero:
            return a / kZero;
    }
    return kZero;
}

template <typename Float>
bool same_bits(Float a, Float b) {
    return std::bit_cast<BitsOf<Float>>(a) == std::bit_cast<BitsOf<Float>>(b) ||
           (std::isnan(a) && std::isnan(b));
}

template <typename Float>
bool gives(ProbeOp op, Float a, Float b, Float c, Float result) {
    const Float wanted = probe_result(op, a, b, c);
    if (op == ProbeOp::FmaOfNormals) {
        // A result that is rounded up to the smallest normal value counts as subnormal.
        constexpr Float kLeast = std::numeric_limits<Float>::min();
        const bool normal = std::fabs(wanted) > kLeast || a == 0 || b == 0;
        const auto subnormal = [](Float x) { return std::fpclassify(x) == FP_SUBNORMAL; };
        if (subnormal(a) || subnormal(b) || subnormal(c) || !(normal || std::isnan(wanted)))
            return true;
    }
    return same_bits(result, wanted);
}

std::uint16_t half_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return 0x7e00;
    if (magnitude >= 65520.0F) return sign | 0x7c00U;  // rounds to infinity
    // The distance between adjacent values of f16 is 2^-24 below 2^-14, and above that 2^-10 times
    // the value's leading power of two.
    const int exponent = magnitude < 0x1p-14F ? -14 : std::ilogb(magnitude);
    const double steps = std::nearbyint(std::ldexp(static_cast<double>(magnitude), 10 - exponent));
    const auto count = static_cast<std::uint32_t>(steps);  // up to 2048: carries into the exponent
    const std::uint32_t base = static_cast<std::uint32_t>(exponent + 14) << 10U;
    return static_cast<std::uint16_t>(sign | (base + count));
}

float float_of(std::uint16_t half) {
    const std::uint32_t exponent = half >> 10U & 31U;
    const std::uint32_t fraction = half & 1023U;
    float out = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                : std::ldexp(static_cast<float>(fraction + 1024),
                                             static_cast<int>(exponent) - 25);
    return (half & 0x8000U) != 0 ? -out : out;
}

template ProbeInputs<float> probe_inputs();
template ProbeInputs<double> probe_inputs();
template ProbeInputs<float> spot_inputs();
template ProbeInputs<double> spot_inputs();
template bool gives(ProbeOp, float, float, float, float);
template bool gives(ProbeOp, double, double, double, double);
template bool same_bits(float, float);
template bool same_bits(double, double);

}  // namespace wye::vulkan
