// SPDX-License-Identifier: Apache-2.0
//
// Packs one cache entry into bytes and unpacks it: the whole key (to detect hash collisions), the
// value, and a checksum over everything. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cache {

using Bytes = std::span<const std::byte>;

// The name of an entry's file: XXH3 (128 bits) of the key, 32 hex digits.
[[nodiscard]] std::string entry_name(Bytes key);
[[nodiscard]] std::vector<std::byte> pack_entry(Bytes key, Bytes value);

struct EntryParts {
    Bytes key, value;
};
// Borrows from `file`. INVALID_WIRE: the file is truncated, changed, or of another version.
[[nodiscard]] Result<EntryParts> unpack_entry(Bytes file);
// The part of the key that the first bytes of a file contain. Not verified; for display only.
[[nodiscard]] Bytes key_of_beginning(Bytes beginning);

}  // namespace wye::cache
