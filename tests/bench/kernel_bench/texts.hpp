// SPDX-License-Identifier: Apache-2.0
//
// The Wye programs and the hand-written kernels, embedded at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wye::bench {

// "saxpy.wye", "saxpy.cu", "saxpy.cl"; empty: there is none.
[[nodiscard]] std::string_view text(std::string_view name);

// SPIR-V of "saxpy.comp"; empty: there is none.
[[nodiscard]] std::span<const std::uint32_t> spirv(std::string_view name);

}  // namespace wye::bench
