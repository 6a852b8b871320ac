// SPDX-License-Identifier: Apache-2.0
//
// The one reader of the wire form, shared by the host and by plugins that take "wye-program".
// Bounds-checked, canonical (encode(decode(bytes)) == bytes), never recursing without a depth
// limit, never allocating more than a small multiple of the input. Pure; thread-safe.
// Errors: INVALID_WIRE with the byte offset and section, LIMIT_EXCEEDED with limit and value.
#pragma once

#include <cstddef>
#include <span>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

// Structure only: names, counts, indices, nesting, canonical form. Types are derived where
// possible (assign_types), but a program that decodes may still be invalid; the validator decides.
[[nodiscard]] Result<Program> decode(std::span<const std::byte> wire);

}  // namespace wye::ir
