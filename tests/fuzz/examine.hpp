// SPDX-License-Identifier: Apache-2.0
// What every program that was read goes through, whatever it was read from: the validator, and when
// that finds nothing, the analysis and each lowering. Aborts when one of them breaks its word.
#pragma once

#include <cstdlib>

#include "lower/lower.hpp"
#include "program/analysis.hpp"
#include "program/diagnostic.hpp"
#include "program/validate.hpp"
#include "wye/sdk/program.hpp"

inline void examine(wye::ir::Program program) {
    const auto found = wye::ir::validate(program);
    if (found.size() > wye::ir::kMaxDiagnostics) std::abort();
    for (const auto& diagnostic : found)
        if (diagnostic.fix.rfind("Fix: ", 0) != 0) std::abort();
    if (!found.empty()) return;
    (void)wye::ir::analyse(program);
    for (const auto format : wye::lower::formats()) {
        const auto artifact = wye::lower::lower(program, format, {});
        if (artifact) continue;
        // A valid program may be unsupported here; it is never invalid a second time.
        if (artifact.error().code == wye::Code::INVALID_PROGRAM) std::abort();
        if (artifact.error().fix.rfind("Fix: ", 0) != 0) std::abort();
    }
}
