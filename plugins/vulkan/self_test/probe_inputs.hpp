// SPDX-License-Identifier: Apache-2.0
//
// The self-test's operations, difficult inputs for them, and their results on the host. Pure, and
// the same in every run. The host's arithmetic must be IEEE-754 in the default rounding and
// subnormal modes; see HostArithmetic.
#pragma once

#include <cfenv>
#include <cstdint>
#include <vector>

namespace wye::vulkan {

// Sets the thread's default floating-point state while it exists.
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
    FmaOfNormals,  // no operand and not the result is subnormal
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    // Literal zeros that a compiler may fold away, which loses the sign of a zero or a NaN.
    AddZero,
    AddMinusZero,
    SubtractMinusZero,
    SubtractFromZero,
    MultiplyZero,
    MultiplyMinusZero,
    DivideZero,
    DivideByZero
};

// The operations, in the order of their results in a module. `widen`: whether f32 can widen to f64.
[[nodiscard]] std::vector<ProbeOp> probe_ops(bool f32, bool widen);

inline constexpr std::uint32_t kProbeCount = 8192;

inline constexpr std::uint32_t kSpotCount = 256;

template <typename Float>
struct ProbeInputs {
    std::vector<Float> a, b, c;  // of equal length
};
// Inputs: special values in all pairs, random bits, quotients and roots next to a rounding
// boundary, c close to -(a * b), and a with few or no fraction bits.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> probe_inputs();  // kProbeCount
// Inputs of each of these sorts, kSpotCount in all.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> spot_inputs();

// Whether the result of an operation is that of the host, or the operation is not tried with these
// operands.
template <typename Float>
[[nodiscard]] bool gives(ProbeOp op, Float a, Float b, Float c, Float result);

// Compares bits, so 0 and -0 differ; but all NaNs are equal.
template <typename Float>
[[nodiscard]] bool same_bits(Float a, Float b);

// Converts f32 to f16, to nearest even; and back.
[[nodiscard]] std::uint16_t half_of(float value);
[[nodiscard]] float float_of(std::uint16_t half);

}  // namespace wye::vulkan
