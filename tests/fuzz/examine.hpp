// SPDX-License-Identifier: Apache-2.0
// Examines a program that was parsed or decoded: validates it and, if it is valid, runs the
// analysis and all lowerings. Aborts if one of these breaks its contract.
#pragma once

#include <cstdlib>

#include "lower/lower.hpp"
#include "program/analysis/analysis.hpp"
#include "program/check/validate.hpp"
#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

inline void examine(wye::ir::Program program) {
    const auto found = wye::ir::validate(program);
    if (found.size() > wye::ir::kMaxDiagnostics) std::abort();
    for (const auto& diagnostic : found)
        if (diagnostic.fix.rfind("Fix: ", 0) != 0) std::abort();
    if (!found.empty()) return;
    (void)wye::ir::analyse(program);
    // Lowers twice: for an unknown device, with all checks; and for a trusted device, with native
    // functions, a folded grid and the check-free form.
    wye::lower::TargetFacts trusted;
    trusted.native_f32_div = trusted.native_f32_sqrt = trusted.native_f32_fma = true;
    trusted.native_f64_div = trusted.native_f64_sqrt = trusted.native_f64_fma = true;
    trusted.workgroup_loops = trusted.native_f16_convert = true;
    trusted.quirks = wye::lower::QuirkSet::none();
    wye::lower::Options free;
    free.check_free = free.folded_grid = true;
    free.ulp_budget = 4;
    for (const auto format : wye::lower::formats()) {
        for (const bool trust : {false, true}) {
            const auto artifact = trust ? wye::lower::lower(program, format, trusted, free)
                                        : wye::lower::lower(program, format, {});
            if (artifact) continue;
            // A lowering may refuse a valid program, but must not call it invalid.
            if (artifact.error().code == wye::Code::INVALID_PROGRAM) std::abort();
            if (artifact.error().fix.rfind("Fix: ", 0) != 0) std::abort();
        }
    }
}
