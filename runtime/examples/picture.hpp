// SPDX-License-Identifier: Apache-2.0
//
// Pictures of 8-bit RGBA pixels, and PNG files through libpng. Values; one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::examples {

struct Picture {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint8_t> rgba;  // 4 bytes a pixel, row after row
};

// Reads a PNG file. Errors: IO if it cannot be opened; INVALID_ARGUMENT if it is not PNG or broken;
// LIMIT_EXCEEDED if it has more than 2^28 pixels.
[[nodiscard]] Result<Picture> read_png(const std::string& path);

// Writes a PNG file. After an error, an existing file is unchanged; after success, the file has its
// old owner and permissions. Symbolic links are followed (wye/sdk/output_file.hpp). Error: IO.
[[nodiscard]] Result<void> write_png(const std::string& path, const Picture& picture);

}  // namespace wye::examples
