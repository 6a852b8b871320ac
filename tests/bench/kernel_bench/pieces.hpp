// SPDX-License-Identifier: Apache-2.0
//
// Fills buffers piece by piece.
#pragma once

#include <algorithm>

#include "kernel_bench/cases.hpp"
#include "wye/sdk/result.hpp"

namespace wye::bench {

// The content of a buffer repeats after this number of bytes, since generating the whole content
// would take longer than the benchmark. The number is no power of two, so that matrix rows differ.
inline constexpr std::uint64_t kPiece = (std::uint64_t{4} << 20U) + 52 * 16;

// Calls upload(offset, bytes) for each piece of an input.
template <typename Upload>
[[nodiscard]] Result<void> fill_pieces(const CaseBuffer& b, Upload&& upload) {
    if (b.output()) return {};
    std::vector<std::byte> piece(std::min(kPiece, b.bytes));
    fill(b.content, 0, piece);
    for (std::uint64_t offset = 0; offset < b.bytes; offset += piece.size()) {
        piece.resize(std::min<std::uint64_t>(piece.size(), b.bytes - offset));
        WYE_TRY(upload(offset, piece));
    }
    return {};
}

}  // namespace wye::bench
