// SPDX-License-Identifier: Apache-2.0
// Fuzz target: saved reports. Any bytes must give a report, or an error with a location and a
// remedy. A view must contain no character that controls a terminal, and a page no tag from the
// report.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "views.hpp"

using namespace wye::tool;

namespace {

void check_text(std::string_view text) {
    const auto obeyed = [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    };
    if (std::ranges::any_of(text, obeyed)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto read = read_report(bytes, "fuzz");
    if (!read.ok()) {
        if (read.error().fix.rfind("Fix: ", 0) != 0) std::abort();
        if (read.error().message.rfind("fuzz", 0) != 0) std::abort();
        return 0;
    }
    const Report& report = *read;
    Style narrow;
    narrow.width = 40;
    for (const Style& style : {Style{}, narrow}) {
        check_text(screen_view(report, style));
        check_text(detail_view(report, style));
        check_text(environment_view(report, true, style));
        check_text(advice_view(report, advice(report), style));
    }
    check_text(list_view(report));
    const std::string page = page_view(report);
    check_text(page);
    // The page has only one script, its own.
    if (page.find("<script") != page.rfind("<script") || page.find("<img") != page.npos)
        std::abort();
    if (const auto value = property_view(report, "memory_bytes", true); value.ok())
        check_text(*value);
    if (const auto fits = require_view(report, "!f64,memory>=1GiB,vendor!=x"); fits.ok())
        for (const std::string& failure : fits->failures) check_text(failure);
    // A report has no difference to itself, and can still be read after it was redacted.
    if (!diff_view(report, report, Style{}).empty()) std::abort();
    const Report hidden = redacted(report, {{"fuzz", "USER"}, {"/root", "~"}});
    check_text(diff_view(report, hidden, narrow));
    std::size_t left = 0;
    check_text(progress_view(report, hidden, narrow, left));
    const auto again = read_report(hidden.dump(), "again");
    if (!again.ok() || *again != hidden) std::abort();
    return 0;
}
