// SPDX-License-Identifier: Apache-2.0
//
// The header of NumPy's .npy files: the type, shape and order of the numbers that follow it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "element.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool {

using Shape = std::vector<std::uint64_t>;  // the last dimension varies fastest in memory

struct NpyHeader {
    std::string type;           // "<f4"
    bool by_columns = false;    // "fortran_order"
    Shape shape;                // empty: one number
    std::uint64_t numbers = 1;  // the product of the shape
    std::size_t size = 0;       // bytes of the header
};

constexpr std::size_t kMostNpyHeader = std::size_t{1} << 16U;

// INVALID_ARGUMENT, with the path, if the bytes do not begin with a header of version 1 to 3.
[[nodiscard]] Result<NpyHeader> npy_header(std::span<const std::byte> bytes,
                                           const std::string& path);

// Makes a header, with padding so that the numbers begin at a multiple of 64 bytes. NumPy must have
// the type.
[[nodiscard]] std::string npy_header_of(const Scalar& scalar, const Shape& shape);

}  // namespace wye::tool
