// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <vector>

#include "program/analysis/analysis.hpp"
#include "program/text/literal.hpp"

namespace wye::ir {
namespace {

// Values stay within [-2^126, 2^126], so that sums cannot overflow; larger ones are refused.
__extension__ using Wide = __int128;

constexpr Wide kBound = Wide(1) << 126;

std::string digits(Wide value) {
    if (value == 0) return "0";
    std::string text;
    const bool negative = value < 0;
    for (Wide rest = negative ? -value : value; rest != 0; rest /= 10)
        text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    return negative ? "-" + text : text;
}

Error refused(const std::string& what, const std::string& problem, const std::string& fix) {
    return {wye::Code::INVALID_ARGUMENT, fmt::format("{} {}", what, problem), fix, what};
}

Wide floor_divide(Wide a, Wide b) {
    const Wide quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

Result<std::uint64_t> evaluate_size(const SizeExpr& size, const Program& program,
                                    std::span<const std::uint64_t> params,
                                    std::span<const std::uint64_t> lengths,
                                    const std::string& what) {
    // Fast path for `len(x)`, the most common size.
    if (size.size() == 1 && size[0].op == WYE_SIZE_LEN && size[0].index < lengths.size() &&
        lengths[size[0].index] >> 63U == 0)
        return lengths[size[0].index];
    // The expression is in prefix order and is read backwards, so operands come before their
    // operator, and the left operand is on top.
    std::vector<Wide> values;
    for (std::size_t i = size.size(); i-- > 0;) {
        const SizeNode& node = size[i];
        if (node.op == WYE_SIZE_LITERAL) {
            values.push_back(node.literal);
            continue;
        }
        if (node.op == WYE_SIZE_PARAM) {
            if (node.index >= params.size() || node.index >= program.params.size())
                return refused(what, "needs a parameter that has no value",
                               "Fix: give every parameter a value");
            const Type type = program.params[node.index].type;
            values.push_back(type.signed_integer() ? Wide(signed_value(type, params[node.index]))
                                                   : Wide(params[node.index]));
            continue;
        }
        if (node.op == WYE_SIZE_LEN) {
            if (node.index >= lengths.size())
                return refused(what, "needs a buffer whose length is not known",
                               "Fix: bind every buffer");
            values.push_back(lengths[node.index]);
            continue;
        }
        if (values.size() < 2 || node.op < WYE_SIZE_ADD || node.op > WYE_SIZE_DIV)
            return refused(what, "has a malformed size expression", "Fix: build it again");
        const Wide a = values.back();
        values.pop_back();
        const Wide b = values.back();
        Wide& out = values.back();
        if (node.op == WYE_SIZE_ADD) out = a + b;
        if (node.op == WYE_SIZE_SUB) out = a - b;
        if (node.op == WYE_SIZE_MUL) {
            const Wide x = a < 0 ? -a : a;
            const Wide y = b < 0 ? -b : b;
            if (x != 0 && y > kBound / x)
                return refused(what, fmt::format("overflows: {} * {}", digits(a), digits(b)),
                               "Fix: use smaller parameters or buffers");
            out = a * b;
        }
        if (node.op == WYE_SIZE_DIV) {
            if (b == 0)
                return refused(what, fmt::format("divides {} by zero", digits(a)),
                               "Fix: use a parameter or length other than zero");
            out = floor_divide(a, b);
        }
        if (out > kBound || out < -kBound)
            return refused(what, fmt::format("overflows at {}", digits(out)),
                           "Fix: use smaller parameters or buffers");
    }
    if (values.size() != 1)
        return refused(what, "has a malformed size expression", "Fix: build it again");
    const Wide value = values.front();
    if (value < 0)
        return refused(what, fmt::format("is negative: {}", digits(value)),
                       "Fix: use parameters and lengths that give 0 or more");
    if (value >= (Wide(1) << 63))
        return refused(what, fmt::format("is 2^63 or more: {}", digits(value)),
                       "Fix: use smaller parameters or buffers");
    return static_cast<std::uint64_t>(value);
}

}  // namespace wye::ir
