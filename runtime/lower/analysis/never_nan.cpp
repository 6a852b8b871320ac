// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/never_nan.hpp"

namespace wye::lower {

bool never_nan(const ir::Code& code, ir::ExprId id) {
    using ir::Op;
    const ir::Expr& e = code.exprs[id];
    if (!e.type.floating()) return true;
    const auto ids = code.operands_of(e);
    switch (e.op) {
        case Op::LITERAL:
            if (e.type.kind == ir::Kind::F16) return (e.extra & 0x7fffU) <= 0x7c00U;
            return e.type.kind == ir::Kind::F64
                       ? (e.extra & ~(std::uint64_t{1} << 63U)) <= 0x7ff0000000000000U
                       : (e.extra & 0x7fffffffU) <= 0x7f800000U;
        case Op::CONVERT:
        case Op::NEG:
        case Op::ABS:
        case Op::FLOOR:
        case Op::CEIL:
        case Op::TRUNC:
        case Op::ROUND:
        case Op::SPLAT:
        case Op::COMPONENT:
        case Op::COPYSIGN:
            return never_nan(code, ids[0]);
        case Op::SELECT:
            return never_nan(code, ids[1]) && never_nan(code, ids[2]);
        case Op::MIN:
        case Op::MAX:
            return never_nan(code, ids[0]) || never_nan(code, ids[1]);
        case Op::CONSTRUCT: {
            bool all = true;
            for (const ir::ExprId part : ids) all = all && never_nan(code, part);
            return all;
        }
        default:
            return false;
    }
}

}  // namespace wye::lower
