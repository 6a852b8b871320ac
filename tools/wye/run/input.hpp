// SPDX-License-Identifier: Apache-2.0
//
// The input that `--in NAME=DATA` of `wye run` gives: numbers in the command line, generated
// numbers (such as `@range(8)`), or a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "element.hpp"
#include "npy.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool {

// The file that DATA names; empty: DATA has numbers, or says how to generate them. "-" is standard
// input.
[[nodiscard]] std::string input_file(const std::string& data);

// A buffer that takes an input.
struct Wanted {
    std::string name;
    std::string type;  // "f32x4"
    Element element;
    std::uint64_t most = UINT64_MAX;  // the maximum number of bytes that can be used
    bool exact = false;               // whether exactly `most` bytes must be given
};

struct Values {
    std::vector<std::byte> bytes;
    Shape shape;  // in elements, as the file or table has it; empty: unknown
};

// INVALID_ARGUMENT names the value, line or header that does not fit the buffer. LIMIT_EXCEEDED:
// there are more bytes than can be used. Other errors: those of read_file.
[[nodiscard]] Result<Values> read_values(const Wanted& wanted, const std::string& data);

}  // namespace wye::tool
