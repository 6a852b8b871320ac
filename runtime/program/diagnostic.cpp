// SPDX-License-Identifier: Apache-2.0
#include "program/diagnostic.hpp"

#include <fmt/core.h>

#include "wye/sdk/printable.hpp"

namespace wye::ir {
namespace {

// Returns line `number` (from 1) of `text` without its end mark.
std::string_view line_of(std::string_view text, std::uint32_t number) {
    std::size_t begin = 0;
    for (std::uint32_t line = 1; line < number; ++line) {
        begin = text.find('\n', begin);
        if (begin == std::string_view::npos) return {};
        ++begin;
    }
    std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

// Returns what precedes the caret: blanks, and the tabs of the line, so that the caret stands under
// its character.
std::string caret_line(std::string_view line, std::uint32_t column) {
    std::string blanks;
    std::uint32_t at = 1;
    for (std::size_t i = 0; i < line.size() && at < column; ++i) {
        if ((static_cast<unsigned char>(line[i]) & 0xc0U) == 0x80) continue;
        blanks += line[i] == '\t' ? '\t' : ' ';
        ++at;
    }
    blanks.append(column > at ? column - at : 0, ' ');
    return blanks + '^';
}

std::string position(const Diagnostic& diagnostic) {
    if (diagnostic.place.line == 0) return diagnostic.where;
    return fmt::format("{}:{}", diagnostic.place.line, diagnostic.place.column);
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::string_view file, std::string_view text) {
    static constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
    std::string out = file.empty() ? "<program>" : sdk::one_line(file);
    if (const std::string at = position(diagnostic); !at.empty()) {
        out += diagnostic.place.line == 0 ? ": " : ":";
        out += at;
    }
    out += ": ";
    out += kSeverities[static_cast<std::size_t>(diagnostic.severity)];
    out += fmt::format(": {}\n", sdk::one_line(diagnostic.message));
    if (diagnostic.place.line != 0 && !text.empty()) {
        constexpr std::size_t kWidest = 400;  // longer lines would hide the message
        const std::string_view line = line_of(text, diagnostic.place.line);
        if (diagnostic.place.column <= kWidest) {
            out += sdk::one_column_each(line.substr(0, kWidest));
            out += fmt::format("\n{}\n", caret_line(line, diagnostic.place.column));
        }
    }
    if (!diagnostic.fix.empty()) out += fmt::format("{}\n", diagnostic.fix);
    return out;
}

Error to_error(wye::Code code, const std::vector<Diagnostic>& diagnostics,
               std::string_view subject) {
    if (diagnostics.empty())
        return {code, "the program is refused without a reason", "Fix: report this as a defect",
                std::string(subject)};
    const Diagnostic& first = diagnostics.front();
    std::string message(subject);
    if (const std::string at = position(first); !at.empty()) {
        if (!message.empty()) message += first.place.line == 0 ? ", " : ":";
        message += at;
    }
    if (!message.empty()) message += ": ";
    message += first.message;
    if (diagnostics.size() > 1) message += fmt::format(" (and {} more)", diagnostics.size() - 1);
    return {code, std::move(message), first.fix, std::string(subject)};
}

}  // namespace wye::ir
