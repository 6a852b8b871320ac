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

// While this object exists, the thread has the default floating-point state.
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
    FmaOfNormals,  // neither an operand nor the result is subnormal
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    // Operations with a literal zero. A compiler that folds them may lose a NaN, or the sign of a
    // zero.
    AddZero,
    AddMinusZero,
    SubtractMinusZero,
    SubtractFromZero,
    MultiplyZero,
    MultiplyMinusZero,
    DivideZero,
    DivideByZero
};

// The operations, in the order of their results in a module. `f32`: for f32, not f64. `widen`:
// whether the device can convert f32 to f64.
[[nodiscard]] std::vector<ProbeOp> probe_ops(bool f32, bool widen);

inline constexpr std::uint32_t kProbeCount = 8192;

inline constexpr std::uint32_t kSpotCount = 256;

template <typename Float>
struct ProbeInputs {
    std::vector<Float> a, b, c;  // of equal length
};
// Inputs: special values in all pairs, random bits, quotients and roots next to a rounding
// boundary, values of c close to -(a * b), and values of a with few or no fraction bits.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> probe_inputs();  // kProbeCount for each operand
// Some inputs of each kind in probe_inputs(), kSpotCount in all.
template <typename Float>
[[nodiscard]] ProbeInputs<Float> spot_inputs();

// Whether `result` equals the host's result of the operation. Also true if the operation is not
// tested with these operands.
template <typename Float>
[[nodiscard]] bool gives(ProbeOp op, Float a, Float b, Float c, Float result);

// Compares bits, so 0 and -0 differ, except that all NaNs are equal.
template <typename Float>
[[nodiscard]] bool same_bits(Float a, Float b);

// Convert f32 to f16, rounding to nearest even, and f16 to f32.
[[nodiscard]] std::uint16_t half_of(float value);
[[nodiscard]] float float_of(std::uint16_t half);

}  // namespace wye::vulkan
