// SPDX-License-Identifier: Apache-2.0
//
// Shared by the C dialects: writes a valid program as one kernel named `wye_main`. Pure;
// thread-safe.
#pragma once

#include "lower/c/spelling.hpp"

namespace wye::lower {

// Errors: UNSUPPORTED, which names the construct; LIMIT_EXCEEDED if the text exceeds kMaxTextBytes.
// With `places`, lines also end with kPlaceMark and the source position of their statement.
[[nodiscard]] Result<Artifact> lower_c(const ir::Program& program, std::string_view format,
                                       const Spelling& spelling, const TargetFacts& facts,
                                       const Options& options, bool places = false);

inline constexpr std::string_view kPlaceMark = "  // at ";

inline constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20U;

}  // namespace wye::lower
