// SPDX-License-Identifier: Apache-2.0
//
// LogFilter: which messages WYE_LOG asks for: `info`, or levels by area as in
// `warning,dispatch:debug,cache:off`. A level includes those above it. An area includes those
// inside it (`cache` has `cache.disk`); of several the longest counts; an entry without an
// area is for all others, which else are off. Values; immutable; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::exec {

class LogFilter {
  public:
    // INVALID_ARGUMENT names the entry that cannot be read.
    [[nodiscard]] static Result<LogFilter> parse(std::string_view text);

    [[nodiscard]] bool passes(std::uint32_t level, std::string_view area) const;

  private:
    struct Entry {
        std::string area;  // empty: all areas
        std::uint32_t level = 0;
    };
    std::vector<Entry> entries_;  // longer areas first
};

// "wye: debug: dispatch: ...", with a line end: one write to standard error.
void write_log_line(std::uint32_t level, std::string_view area, std::string_view text);

}  // namespace wye::exec
