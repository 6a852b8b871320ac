// SPDX-License-Identifier: Apache-2.0
//
// decode: reads the wire form of programs, for the host and for plugins that take "wye-program".
// Bounds-checked and canonical (encode(decode(bytes)) == bytes). Its recursion is limited, and it
// allocates at most a small multiple of the input. Pure; thread-safe. Errors: INVALID_WIRE with the
// byte offset and section, LIMIT_EXCEEDED with limit and value.
#pragma once

#include <cstddef>
#include <span>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

// Checks structure only: names, counts, indices, nesting, canonical form. Derives types as far as
// possible (assign_types), but a decoded program may still be invalid: only the validator decides.
[[nodiscard]] Result<Program> decode(std::span<const std::byte> wire);

}  // namespace wye::ir
