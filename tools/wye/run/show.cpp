// SPDX-License-Identifier: Apache-2.0
//
// Tables of outputs for people.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "output_form.hpp"

namespace wye::tool {
namespace {

constexpr std::uint64_t kFirstRows = 8;

// An element as text; a vector is in brackets.
std::string cell(const Table& table, std::uint64_t place) {
    const Element& element = table.element;
    const std::byte* at = table.bytes.data() + place * element.bytes();
    if (element.lanes == 1) return text_of(*element.scalar, at);
    std::string out = "(";
    for (std::uint32_t lane = 0; lane < element.lanes; ++lane)
        out += (lane == 0 ? "" : " ") + text_of(*element.scalar, at + lane * element.scalar->bytes);
    return out + ")";
}

// The numbers of the rows that are shown: the first rows and the last row.
std::vector<std::uint64_t> some(std::uint64_t count, std::uint64_t first) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < std::min(count, first); ++i) out.push_back(i);
    if (count > first) out.push_back(count - 1);
    return out;
}

// Draws the rows. Each row begins with the number of its first element. If not all columns fit, the
// rows end in dots.
std::string drawn(const Table& table, std::uint64_t row_count, std::uint64_t columns,
                  std::size_t width) {
    constexpr std::string_view kDots = "  ...";
    const std::uint64_t count = table.count();
    const std::vector<std::uint64_t> rows = some(row_count, kFirstRows);
    const std::size_t label = fmt::formatted_size("  [{}]", count - 1);
    std::vector<std::string> lines;
    for (const std::uint64_t row : rows)
        lines.push_back(fmt::format("{:<{}}", fmt::format("  [{}]", row * columns), label));
    std::size_t used = label;
    for (std::uint64_t column = 0; column < columns; ++column) {
        std::vector<std::string> cells;
        std::size_t widest = 0;
        for (const std::uint64_t row : rows) {
            const std::uint64_t place = row * columns + column;
            cells.push_back(place < count ? cell(table, place) : std::string());
            widest = std::max(widest, cells.back().size());
        }
        const std::size_t after = column + 1 == columns ? 0 : kDots.size();
        const bool full = used + 2 + widest + after > width;
        if (column > 0 && full) {
            for (std::string& line : lines) line += kDots;
            break;
        }
        used += 2 + widest;
        for (std::size_t i = 0; i < lines.size(); ++i)
            lines[i] += fmt::format("  {:>{}}", cells[i], widest);
    }
    std::string out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && rows[i] != rows[i - 1] + 1) out += "  ...\n";
        out += lines[i].substr(0, lines[i].find_last_not_of(' ') + 1) + '\n';
    }
    return out;
}

}  // namespace

std::string shown_table(const Table& table, std::size_t width) {
    const std::uint64_t count = table.count();
    std::string out =
        fmt::format("{}: {}[{}], {} bytes\n", table.name, table.type,
                    table.shape.empty() ? fmt::format("{}", count)
                                        : fmt::format("{}", fmt::join(table.shape, "x")),
                    table.bytes.size());
    if (count == 0) return out;
    if (table.shape.size() >= 2)
        return out + drawn(table, count / table.shape.back(), table.shape.back(), width);
    // Chooses how many columns fit, as if the widest of the first elements were the widest of all.
    // The number of columns is a power of two, by which people count with ease.
    std::size_t widest = 1;
    for (const std::uint64_t place : some(count, kFirstRows * 8))
        widest = std::max(widest, cell(table, place).size());
    const std::size_t label = fmt::formatted_size("  [{}]", count - 1);
    std::uint64_t columns = 1;
    while (columns < 16 && label + (widest + 2) * columns * 2 <= width) columns *= 2;
    columns = std::min(columns, count);
    return out + drawn(table, (count + columns - 1) / columns, columns, width);
}

}  // namespace wye::tool
