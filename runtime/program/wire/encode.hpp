// SPDX-License-Identifier: Apache-2.0
//
// Encodes a program in wire form, and computes its fingerprint. Pure; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

enum class Notes { Keep, Drop };

// Returns the canonical encoding. With Notes::Keep the encoding includes the names of locals, if
// any, and unknown notes. Errors: INVALID_PROGRAM if a variant's file is unresolved; LIMIT_EXCEEDED
// above a limit of program_format.h.
[[nodiscard]] Result<std::vector<std::byte>> encode(const Program& program,
                                                    Notes notes = Notes::Keep);

// The XXH3 128-bit hash, with seed 0, of the encoding without notes. Written as 32 hex digits, most
// significant first. A fingerprint can be forged, so caches compare the encodings, too.
struct Fingerprint {
    std::array<std::uint8_t, 16> bytes{};  // most significant first
    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
    [[nodiscard]] std::string hex() const;
};
[[nodiscard]] Result<Fingerprint> fingerprint(const Program& program);
[[nodiscard]] Fingerprint fingerprint_of_encoding(const std::vector<std::byte>& without_notes);

}  // namespace wye::ir
