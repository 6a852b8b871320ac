// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/literal_arithmetic.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace wye::lower::middle {
namespace {

using ir::Op;

template <typename T, typename Bits>
std::optional<std::uint64_t> fold(Op op, const std::array<std::uint64_t, 3>& operands) {
    const auto value = [&](std::size_t k) {
        return std::bit_cast<T>(static_cast<Bits>(operands[k]));
    };
    std::fenv_t caller;
    std::fegetenv(&caller);
    std::fesetenv(FE_DFL_ENV);
    volatile T a = value(0);  // keeps the compiler from folding or moving the operation
    volatile T b = value(1);
    volatile T result = 0;
    bool known = true;
    switch (op) {
        case Op::ADD:
            result = a + b;
            break;
        case Op::SUB:
            result = a - b;
            break;
        case Op::MUL:
            result = a * b;
            break;
        case Op::DIV:
            result = a / b;
            break;
        case Op::SQRT:
            result = std::sqrt(a);
            break;
        case Op::FMA:
            result = std::fma(a, b, value(2));
            break;
        default:
            known = false;
    }
    const T out = std::isnan(result) ? std::numeric_limits<T>::quiet_NaN() : result;
    std::fesetenv(&caller);
    if (!known) return {};
    return std::bit_cast<Bits>(out);
}

}  // namespace

std::optional<std::uint64_t> literal_arithmetic(Op op, ir::Kind kind,
                                                const std::array<std::uint64_t, 3>& operands) {
    if (kind == ir::Kind::F32) return fold<float, std::uint32_t>(op, operands);
    if (kind == ir::Kind::F64) return fold<double, std::uint64_t>(op, operands);
    return std::nullopt;
}

}  // namespace wye::lower::middle
