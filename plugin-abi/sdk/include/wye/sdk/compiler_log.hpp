// SPDX-License-Identifier: Apache-2.0
//
// Turns the log of a C compiler into an error: the first complaint becomes the message, with the
// source line that the complaint names; the whole log becomes the cause. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

// The line of `text` that contains byte `at`.
[[nodiscard]] inline std::string_view line_at(std::string_view text, std::size_t at) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t from = before == std::string_view::npos ? 0 : before + 1;
    return text.substr(from, std::min(text.find('\n', at), text.size()) - from);
}

// Line `number`, counted from 1; empty past the end.
[[nodiscard]] inline std::string_view numbered_line(std::string_view text, std::size_t number) {
    std::size_t at = 0;
    for (std::size_t n = 1; n < number; ++n) {
        at = text.find('\n', at);
        if (at == std::string_view::npos) return {};
        ++at;
    }
    return line_at(text, at);
}

// Finds the line number N in "file.cl:N:7: error", "file.cu(N): error" or "input, line N; error"; 0
// if there is none.
[[nodiscard]] inline std::size_t line_number(std::string_view complaint) {
    constexpr std::size_t kMost = 100000000;
    constexpr std::string_view kWord = ", line ";
    const std::size_t word = complaint.find(kWord);
    const std::size_t named = word == std::string_view::npos ? 0 : word + kWord.size() - 1;
    for (std::size_t i = 0; i + 1 < complaint.size(); ++i) {
        if (complaint[i] != ':' && complaint[i] != '(' && (i == 0 || i != named)) continue;
        std::size_t number = 0;
        std::size_t end = i + 1;
        for (; end < complaint.size() && complaint[end] >= '0' && complaint[end] <= '9'; ++end)
            if (number < kMost) number = number * 10 + static_cast<unsigned>(complaint[end] - '0');
        if (end > i + 1 && end < complaint.size() &&
            (complaint[end] == ':' || complaint[end] == ')' || complaint[end] == ';'))
            return number;
    }
    return 0;
}

// Adds the log to `error`; `compiler` is the name in messages ("NVRTC").
[[nodiscard]] inline Error with_log(Error error, std::string_view compiler, std::string_view source,
                                    const std::string& log) {
    if (log.empty()) return error;
    if (const std::size_t at = log.find("error"); at != std::string::npos) {
        const std::string_view complaint = line_at(log, at);
        error.message = std::string(compiler) + " refused program `" + error.subject +
                        "`: " + std::string(complaint);
        if (const std::size_t number = line_number(complaint); number != 0)
            error.message += " [source line " + std::to_string(number) + ": " +
                             std::string(numbered_line(source, number)) + "]";
    }
    error.cause = std::make_shared<const Error>(Error(error.code, log, "", error.subject));
    return error;
}

}  // namespace wye::sdk
