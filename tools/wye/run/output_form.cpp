// SPDX-License-Identifier: Apache-2.0
#include "output_form.hpp"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/files.hpp"
#include "picture.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::tool {
namespace {

Error wrong_shape(const Table& table, std::string message, std::string fix) {
    return Error(Code::INVALID_ARGUMENT, std::move(message), std::move(fix), table.name);
}

void add_text(std::string_view text, std::vector<std::byte>& out) {
    const std::size_t at = out.size();
    out.resize(at + text.size());
    std::memcpy(out.data() + at, text.data(), text.size());
}

// One line for each row; the numbers of a vector are neighbours.
std::vector<std::byte> csv_of(const Table& table) {
    const Scalar& scalar = *table.element.scalar;
    const std::uint64_t columns = table.columns() * table.element.lanes;
    const std::uint64_t numbers = table.bytes.size() / scalar.bytes;
    std::vector<std::byte> out;
    for (std::uint64_t i = 0; i < numbers; ++i) {
        add_text(text_of(scalar, table.bytes.data() + i * scalar.bytes), out);
        add_text((i + 1) % columns == 0 ? "\n" : ",", out);
    }
    return out;
}

std::vector<std::byte> npy_of(const Table& table) {
    Shape shape = table.shape;
    if (shape.empty()) shape = {table.count()};
    if (table.element.lanes != 1) shape.push_back(table.element.lanes);
    const std::string header = npy_header_of(*table.element.scalar, shape);
    std::vector<std::byte> out;
    out.reserve(header.size() + table.bytes.size());
    add_text(header, out);
    out.insert(out.end(), table.bytes.begin(), table.bytes.end());
    return out;
}

}  // namespace

OutputForm output_form(std::string_view path) {
    if (has_ending(path, ".npy")) return OutputForm::Npy;
    if (has_ending(path, ".csv") || has_ending(path, ".txt")) return OutputForm::Csv;
    return has_ending(path, ".png") ? OutputForm::Png : OutputForm::Raw;
}

Result<Shape> parse_shape(const std::string& name, const std::string& text) {
    constexpr std::size_t kMost = 8;
    if (auto shape = sdk::parse_numbers<std::uint64_t>(text, 'x', kMost)) return *std::move(shape);
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`--shape {}={}` is not ROWSxCOLUMNS: 1 to {} whole numbers", name,
                             text, kMost),
                 fmt::format("Fix: write it as in --shape {}=480x640", name), name);
}

Result<void> check_table(const Table& table, OutputForm form) {
    if (form != OutputForm::Raw && table.bytes.size() % table.element.bytes() != 0)
        return wrong_shape(table,
                           fmt::format("`{}` is read back as {} bytes, which are no whole elements "
                                       "of {}",
                                       table.name, table.bytes.size(), table.type),
                           "Fix: write it to a file of raw bytes");
    std::uint64_t count = 1;
    bool fits = true;
    for (const std::uint64_t one : table.shape)
        fits = fits && !__builtin_mul_overflow(count, one, &count);
    if (!table.shape.empty() && (!fits || count != table.count()))
        return wrong_shape(
            table,
            fmt::format("`{}` has {} elements, and the shape {} has not", table.name, table.count(),
                        fmt::join(table.shape, "x")),
            fmt::format("Fix: give --shape {}=ROWSxCOLUMNS with that product", table.name));
    if (form == OutputForm::Npy && table.element.scalar->numpy.empty())
        return wrong_shape(
            table,
            fmt::format("`{}` has elements of {}, a type that NumPy lacks", table.name, table.type),
            "Fix: write it to a .csv file or a file of raw bytes");
    return form == OutputForm::Png ? check_picture(table) : Result<void>();
}

std::vector<std::byte> encoded(const Table& table, OutputForm form) {
    if (form == OutputForm::Csv) return csv_of(table);
    return form == OutputForm::Npy ? npy_of(table) : png_of(table);
}

}  // namespace wye::tool
