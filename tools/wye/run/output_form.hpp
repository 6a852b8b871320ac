// SPDX-License-Identifier: Apache-2.0
//
// The formats of output files. The ending of a file's name chooses the format. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"
#include "npy.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool {

enum class OutputForm : std::uint8_t { Raw, Npy, Csv, Png };
[[nodiscard]] OutputForm output_form(std::string_view path);

// The content of an output.
struct Table {
    std::string name;
    std::string type;  // "f32x4"
    Element element;
    Shape shape;  // in elements, outermost dimension first; empty: one dimension
    std::span<const std::byte> bytes;

    [[nodiscard]] std::uint64_t count() const { return bytes.size() / element.bytes(); }
    // The number of elements in a row, which is the last dimension; 1 if there is one dimension.
    [[nodiscard]] std::uint64_t columns() const { return shape.size() < 2 ? 1 : shape.back(); }
};

// Parses `--shape NAME=ROWSxCOLUMNS`, with 1 to 8 dimensions.
[[nodiscard]] Result<Shape> parse_shape(const std::string& name, const std::string& text);

// Checks that the shape has as many elements as `bytes`, and that this format can hold the table.
// Does not read the content of `bytes`. Errors: INVALID_ARGUMENT.
[[nodiscard]] Result<void> check_table(const Table& table, OutputForm form);

// Returns the bytes of the file. `form` must not be Raw. `table` must have passed check_table.
[[nodiscard]] std::vector<std::byte> encoded(const Table& table, OutputForm form);

// A table for people, with at most `width` columns: the first rows and the last one.
[[nodiscard]] std::string shown_table(const Table& table, std::size_t width);

}  // namespace wye::tool
