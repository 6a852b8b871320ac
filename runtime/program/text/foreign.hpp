// SPDX-License-Identifier: Apache-2.0
//
// Words of other languages (C, CUDA, OpenCL C, Metal, HLSL, GLSL, WGSL, Rust, Python), and what to
// write instead in a Wye program, for remedies. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::ir {

// The language of a text that is not a Wye program.
struct OtherLanguage {
    std::string_view name;     // "WGSL"
    std::string_view variant;  // the format of a variant that may hold the text; may be empty
};

// Returns the language of a text, judged by words that only one language has; none: no such word.
[[nodiscard]] std::optional<OtherLanguage> other_language(std::string_view text);

// Returns the type for which other languages use this word, such as f32x4 for `vec4`, `float4` and
// `vec4f`; None for every other word.
[[nodiscard]] Type foreign_type(std::string_view text);

// Returns what to do instead of using a name of another language, such as "write `global_id`";
// empty for every other name.
[[nodiscard]] std::string_view foreign_name(std::string_view text);

// Like `foreign_name`, for a word that begins a statement or a declaration: `switch`, `struct`.
[[nodiscard]] std::string_view foreign_start(std::string_view text);

// Whether declarations of other languages have this word before the type: `static`, `auto`.
[[nodiscard]] bool foreign_qualifier(std::string_view text);

}  // namespace wye::ir
