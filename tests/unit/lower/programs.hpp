// SPDX-License-Identifier: Apache-2.0
//
// For tests of the lowerings: makes a program from text, which must be valid.
#pragma once

#include <stdexcept>
#include <string>

#include "program/check/validate.hpp"
#include "program/text/text.hpp"

inline wye::ir::Program valid_program(const std::string& text) {
    auto parsed = wye::ir::parse(text);
    auto diagnostics = parsed.diagnostics;
    if (parsed.ok()) diagnostics = wye::ir::validate(parsed.program);
    for (const auto& d : diagnostics)
        if (d.severity == wye::ir::Diagnostic::Severity::Error)
            throw std::runtime_error(wye::ir::render(d, "test", text));
    return std::move(parsed.program);
}
