// SPDX-License-Identifier: Apache-2.0
//
// LogFilter: selects the messages that WYE_LOG asks for. WYE_LOG is a level (`info`), or levels by
// area as in `warning,dispatch:debug,cache:off`. A level includes more severe ones. An area
// includes its subareas (`cache` includes `cache.disk`); the longest matching area decides. An
// entry without an area applies to all other areas; without such an entry these are off. Immutable;
// thread-safe.
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
    // The least severe level that passes in at least one area.
    [[nodiscard]] std::uint32_t least_severe() const;

  private:
    struct Entry {
        std::string area;  // empty: all areas
        std::uint32_t level = 0;
    };
    std::vector<Entry> entries_;  // longer areas first
};

// Writes "wye: debug: dispatch: ..." and a line end to standard error, in one write.
void write_log_line(std::uint32_t level, std::string_view area, std::string_view text);

}  // namespace wye::exec
