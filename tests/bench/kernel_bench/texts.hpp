// SPDX-License-Identifier: Apache-2.0
//
// The Wye programs and the hand-written kernels, embedded at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wye::bench {

// The text of "saxpy.wye", "saxpy.cu" or "saxpy.cl"; empty: there is no such file.
[[nodiscard]] std::string_view text(std::string_view name);

// The SPIR-V of "saxpy.comp"; empty: there is no such file.
[[nodiscard]] std::span<const std::uint32_t> spirv(std::string_view name);

}  // namespace wye::bench
