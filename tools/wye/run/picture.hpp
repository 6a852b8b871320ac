// SPDX-License-Identifier: Apache-2.0
//
// PNG files of tables with two dimensions. A u8 is a channel of a pixel; a float is a channel, from
// 0 to 1; a u32 is a pixel of four channels, with red in its lowest byte. A vector of two is grey
// and alpha; of three: red, green, blue; of four: red, green, blue, alpha. Pixels are not
// compressed. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "output_form.hpp"

namespace wye::tool {

// INVALID_ARGUMENT if a table is no picture.
[[nodiscard]] Result<void> check_picture(const Table& table);

[[nodiscard]] std::vector<std::byte> png_of(const Table& table);

}  // namespace wye::tool
