// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: faults of a program, each with its source position and a fix. Made by the parser and
// the validator. Plain values that own their strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

struct Diagnostic {
    enum class Severity { Error, Warning, Note };
    Severity severity = Severity::Error;
    Place place;  // line 0: not known; `where` is shown instead ("function `bin`, statement 3")
    std::string where;    // may be empty when place is known
    std::string message;  // one sentence without a final full stop
    std::string fix;      // begins with "Fix: "
};

inline constexpr std::size_t kMaxDiagnostics = 100;

// Formats a diagnostic: "file:3:9: error: message", the source line with a caret under the column,
// then the fix. `text` is the whole program text, or empty. Tabs count as one column and are kept
// in the caret line.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, std::string_view file,
                                 std::string_view text);

// Makes one Error, INVALID_TEXT or INVALID_PROGRAM, from the first diagnostic and the number of the
// others.
[[nodiscard]] Error to_error(wye::Code code, const std::vector<Diagnostic>& diagnostics,
                             std::string_view subject);

}  // namespace wye::ir
