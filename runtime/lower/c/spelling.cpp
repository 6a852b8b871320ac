// SPDX-License-Identifier: Apache-2.0
#include "lower/c/spelling.hpp"

namespace wye::lower {

using ir::Kind;

std::string_view Spelling::value_type(Kind kind) const {
    if (kind == Kind::I32) return type(Kind::U32);
    if (kind == Kind::I64) return type(Kind::U64);
    if (kind == Kind::F16) return type(Kind::F32);
    return type(kind);
}

std::string call(std::string_view name, std::span<const std::string> operands) {
    std::string out(name);
    out += '(';
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (i != 0) out += ", ";
        out += operands[i];
    }
    return out += ')';
}

}  // namespace wye::lower
