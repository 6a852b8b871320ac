// SPDX-License-Identifier: Apache-2.0
//
// One entry of the cache as bytes: its whole key, so that hash collisions are detected, its value,
// and a checksum over everything. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cache {

using Bytes = std::span<const std::byte>;

// The file's name: XXH3 (128 bits) of the key, 32 hex digits.
[[nodiscard]] std::string entry_name(Bytes key);
[[nodiscard]] std::vector<std::byte> pack_entry(Bytes key, Bytes value);

struct EntryParts {
    Bytes key, value;
};
// Borrows from `file`. INVALID_WIRE: cut off, changed, or of another version.
[[nodiscard]] Result<EntryParts> unpack_entry(Bytes file);
// The part of the key that is within the first bytes of a file; unchecked, for people.
[[nodiscard]] Bytes key_of_beginning(Bytes beginning);

}  // namespace wye::cache
