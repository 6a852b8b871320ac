// SPDX-License-Identifier: Apache-2.0
//
// The example programs, the language reference and the digests of math functions, as text in the
// executable. An installed kit thus needs no files. Static memory.
#pragma once

#include <string_view>

namespace support {

[[nodiscard]] std::string_view language_text();
// The content of tests/golden/math/digests.txt.
[[nodiscard]] std::string_view digests_text();
// The text of the example program NAME.wye; empty: there is none.
[[nodiscard]] std::string_view program_text(std::string_view name);

}  // namespace support
