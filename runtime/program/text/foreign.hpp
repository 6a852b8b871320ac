// SPDX-License-Identifier: Apache-2.0
//
// Words of other languages (C, CUDA, OpenCL C, Metal, HLSL, GLSL, WGSL, Rust, Python) and what
// stands for them here, for remedies. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::ir {

// The language of a text that is no Wye program.
struct OtherLanguage {
    std::string_view name;     // "WGSL"
    std::string_view variant;  // the format of a variant that may hold it; may be empty
};

// Returns the language that the words of a text belong to, if there is one that others do not have.
[[nodiscard]] std::optional<OtherLanguage> other_language(std::string_view text);

// Returns the type that another language calls so, such as f32x4 for `vec4`, `float4` and `vec4f`;
// None for every other word.
[[nodiscard]] Type foreign_type(std::string_view text);

// Returns what to do instead of using a name of another language, such as "write `global_id`";
// empty for every other name.
[[nodiscard]] std::string_view foreign_name(std::string_view text);

// Like `foreign_name`, for a word that begins a statement or a declaration: `switch`, `struct`.
[[nodiscard]] std::string_view foreign_start(std::string_view text);

// Whether the word stands before the type in declarations of other languages: `static`, `auto`.
[[nodiscard]] bool foreign_qualifier(std::string_view text);

}  // namespace wye::ir
