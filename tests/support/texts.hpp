// SPDX-License-Identifier: Apache-2.0
//
// The example programs, the language reference and the digests of math functions, embedded at build
// time, so that an installed kit needs no file. Static memory.
#pragma once

#include <string_view>

namespace support {

[[nodiscard]] std::string_view language_text();
// tests/golden/math/digests.txt.
[[nodiscard]] std::string_view digests_text();
// Returns the text of the program NAME.wye, or an empty text if there is none.
[[nodiscard]] std::string_view program_text(std::string_view name);

}  // namespace support
