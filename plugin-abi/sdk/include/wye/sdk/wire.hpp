// SPDX-License-Identifier: Apache-2.0
//
// The reader of the wire form, shared by the host and by plugins that take "wye-program".
// Bounds-checked and canonical (encode(decode(bytes)) == bytes); limits its recursion, and
// allocates at most a small multiple of the input. Pure; thread-safe.
// Errors: INVALID_WIRE with the byte offset and section, LIMIT_EXCEEDED with limit and value.
#pragma once

#include <cstddef>
#include <span>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

// Checks structure only: names, counts, indices, nesting, canonical form. Derives types as far as
// possible (assign_types), but a decoded program may still be invalid; the validator decides.
[[nodiscard]] Result<Program> decode(std::span<const std::byte> wire);

}  // namespace wye::ir
