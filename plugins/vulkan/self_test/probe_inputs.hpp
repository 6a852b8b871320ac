// SPDX-License-Identifier: Apache-2.0
//
// What the self-test computes: operations, nasty inputs, and the host's own results. Pure, and the
// same on every run. The host's arithmetic is IEEE-754 once its rounding and subnormal modes are
// the default ones: see HostArithmetic.
#pragma once

#include <cfenv>
#include <cstdint>
#include <vector>

namespace wye::vulkan {

// Default floating-point state of this thread, for as long as the object lives.
class HostArithmetic {
  public:
    HostArithmetic() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~HostArithmetic() { std::fesetenv(&saved_); }
    HostArithmetic(const HostArithmetic&) = delete;
    HostArithmetic& operator=(const HostArithmetic&) = delete;

  private:
    std::fenv_t saved_{};
};

enum class ProbeOp : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Less,       // 1 or 0
    ScaleUp,    // f32 only: widened to f64, times 2^100, narrowed
    ScaleDown,  // f32 only: widened to f64, times 2^-100, narrowed
    Divide,
    SquareRoot,
    Fma,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    // Literal zeros that a compiler may fold away, with the sign of a zero or a NaN.
    AddZero,
    AddMinusZero,
    SubtractMinusZero,
    SubtractFromZero,
    MultiplyZero,
    MultiplyMinusZero,
    DivideZero,
    DivideByZero
};

// In the order in which a module stores their results. `widen`: f64 is there for f32 to widen to.
[[nodiscard]] std::vector<ProbeOp> probe_ops(bool f32, bool widen);

inline constexpr std::uint32_t kProbeCount = 8192;

inline constexpr std::uint32_t kSpotCount = 256;

template <typename Float>
struct ProbeInputs {
    std::vector<Float> a, b, c;  // of one length
};
// Special values in all pairs, random bits, quotients and roots next to a rounding boundary, c
// close to -(a * b), and a with few bits or none behind the point.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> probe_inputs();  // kProbeCount
// Some of each sort of them, kSpotCount.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> spot_inputs();

// What the host computes.
template <typename Float>
[[nodiscard]] Float probe_result(ProbeOp op, Float a, Float b, Float c);

// Bits, not values: 0 and -0 differ. Two NaNs are the same.
template <typename Float>
[[nodiscard]] bool same_bits(Float a, Float b);

// f32 to f16, to nearest even, and back.
[[nodiscard]] std::uint16_t half_of(float value);
[[nodiscard]] float float_of(std::uint16_t half);

}  // namespace wye::vulkan
