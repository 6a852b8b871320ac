// SPDX-License-Identifier: Apache-2.0
//
// Maps each operation of the self-test to the verdict flag that the operation determines. Pure.
#pragma once

#include "vulkan/self_test/probe_inputs.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

[[nodiscard]] inline bool FloatVerdict::*flag_of(ProbeOp op) {
    switch (op) {
        case ProbeOp::Add:
        case ProbeOp::Subtract:
        case ProbeOp::Multiply:
        case ProbeOp::Less:
        case ProbeOp::ScaleUp:
        case ProbeOp::ScaleDown:
            return &FloatVerdict::arithmetic;
        case ProbeOp::Divide:
            return &FloatVerdict::divides;
        case ProbeOp::SquareRoot:
            return &FloatVerdict::square_root;
        case ProbeOp::Fma:
            return &FloatVerdict::fuses;
        case ProbeOp::FmaOfNormals:
            return &FloatVerdict::fuses_normals;
        case ProbeOp::Floor:
        case ProbeOp::Ceil:
        case ProbeOp::Trunc:
        case ProbeOp::RoundEven:
            return &FloatVerdict::rounds;
        default:
            return &FloatVerdict::folds_literal_zero;
    }
}

// Whether the verdict claims that the operation gives the host's result.
[[nodiscard]] inline bool claims(const FloatVerdict& verdict, ProbeOp op) {
    const auto flag = flag_of(op);
    return verdict.*flag != (flag == &FloatVerdict::folds_literal_zero);
}
// Records that the operation did not give the host's result.
inline void deny(FloatVerdict& verdict, ProbeOp op) {
    const auto flag = flag_of(op);
    verdict.*flag = flag == &FloatVerdict::folds_literal_zero;
}

}  // namespace wye::vulkan
