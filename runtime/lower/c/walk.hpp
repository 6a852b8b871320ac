// SPDX-License-Identifier: Apache-2.0
//
// The walker shared by the C dialects: a valid program becomes one kernel named `wye_main`.
// Pure; thread-safe.
#pragma once

#include "lower/c/spelling.hpp"

namespace wye::lower {

// UNSUPPORTED names the construct; LIMIT_EXCEEDED when the text passes kMaxTextBytes. With `places`
// lines end with kPlaceMark and the place of their statement, and are the same otherwise.
[[nodiscard]] Result<Artifact> lower_c(const ir::Program& program, std::string_view format,
                                       const Spelling& spelling, const TargetFacts& facts,
                                       const Options& options, bool places = false);

inline constexpr std::string_view kPlaceMark = "  // at ";

inline constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20U;

}  // namespace wye::lower
