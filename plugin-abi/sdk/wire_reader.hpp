// SPDX-License-Identifier: Apache-2.0
//
// Internals of the wire reader: a bounds-checked cursor over one section, and the state that
// sections share. A failed read stores the error and returns false; callers return at once. Borrows
// the bytes; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir::detail {

inline constexpr const char* kFixEncode =
    "Fix: encode the program again with this version of Wye; these bytes are damaged or were not "
    "written by its encoder";

class Reader {
  public:
    // Reads wire[begin, end). `section` names the place in messages.
    Reader(std::span<const std::byte> wire, std::size_t begin, std::size_t end,
           std::string_view section, Error& error)
        : wire_(wire), at_(begin), last_(begin), end_(end), section_(section), error_(&error) {}

    [[nodiscard]] bool word(std::uint32_t& out);
    [[nodiscard]] bool word64(std::uint64_t& out);  // the low word comes first
    [[nodiscard]] bool text(std::string& out, std::uint32_t limit, std::string_view what);
    [[nodiscard]] bool bytes(std::span<const std::byte>& out, std::size_t count);
    // Skips the padding up to the next multiple, counted from the first byte of the wire form, and
    // checks that it is zero.
    [[nodiscard]] bool padding(std::size_t multiple);
    [[nodiscard]] bool finished();  // fails if bytes are left

    // Checks a count just read: it is within the limit, and `item_bytes` per item are left.
    [[nodiscard]] bool count(std::uint32_t value, std::uint64_t limit, std::size_t item_bytes,
                             std::string_view what);
    // Checks that an index just read is below `bound`.
    [[nodiscard]] bool index(std::uint32_t value, std::size_t bound, std::string_view what);
    [[nodiscard]] bool zero(std::uint32_t value, std::string_view what);

    // Makes a reader of the next `words` words and skips them.
    [[nodiscard]] bool part(std::uint32_t words, Reader& out);

    // Stores an error and returns false.
    bool fail(const std::string& what, const char* fix = kFixEncode);
    bool over(std::string_view what, std::uint64_t value, std::uint64_t limit);

    [[nodiscard]] std::size_t left() const { return end_ - at_; }

  private:
    std::string place() const;

    std::span<const std::byte> wire_;
    std::size_t at_;    // next byte
    std::size_t last_;  // start of the last item read, for messages
    std::size_t end_;
    std::string_view section_;
    Error* error_;
};

std::string hex(std::uint32_t value);  // "0x1a"

// State that the reader of one section passes to the later ones.
struct Context {
    Program& program;
    // The counts at the beginning of PARAMS and BUFFERS. Set before any section is read, since a
    // size expression may name a parameter or a buffer that is declared later.
    std::size_t params = 0;
    std::size_t buffers = 0;
    std::uint64_t statements = 0;
    std::uint64_t nodes = 0;
    std::vector<std::uint64_t> inlined;  // nodes of each function with its calls inlined
};

// The readers of sections. Each consumes its Reader completely.
[[nodiscard]] bool read_head(Reader& in, Context& context);
[[nodiscard]] bool read_params(Reader& in, Context& context);
[[nodiscard]] bool read_buffers(Reader& in, Context& context);
[[nodiscard]] bool read_tables(Reader& in, Context& context);
[[nodiscard]] bool read_functions(Reader& in, Context& context);
[[nodiscard]] bool read_body(Reader& in, Context& context);
[[nodiscard]] bool read_variants(Reader& in, Context& context);
[[nodiscard]] bool read_names(Reader& in, Context& context);

// Reads a block; for a function, also the returned expression. `code.locals` holds the arguments.
[[nodiscard]] bool read_code(Reader& in, Context& context, Code& code, bool function);

}  // namespace wye::ir::detail
