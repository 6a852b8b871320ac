// SPDX-License-Identifier: Apache-2.0
//
// Internals of the encoder: the sink that sections are written to, and the encoding of code as
// words. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir::detail {

using Words = std::vector<std::uint32_t>;

// Collects the words of one section, and the first error of the whole encoding.
class Sink {
  public:
    explicit Sink(std::string subject) : subject_(std::move(subject)) {}

    void word(std::uint32_t value) { words_.push_back(value); }
    void word64(std::uint64_t value);                // low word first
    void bytes(std::span<const std::byte> content);  // pads with zeros to a multiple of 4 bytes
    void text(const std::string& content, std::uint32_t limit, std::string_view what);
    void list(std::uint64_t count, std::uint64_t limit, std::string_view what);

    // Report errors. Only the first one is kept.
    void fail(wye::Code code, std::string what, const char* fix);
    void malformed(std::string what);
    void over(std::string_view what, std::uint64_t value, std::uint64_t limit);
    void limit(std::string_view what, std::uint64_t value, std::uint64_t limit);
    // Like `limit` above, for the declaration with this name.
    void limit(std::string_view what, std::string_view name, std::uint64_t value,
               std::uint64_t limit);
    void count_node();       // checks WYE_LIMIT_NODES
    void count_statement();  // checks WYE_LIMIT_STATEMENTS

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] const Error& error() const { return error_; }
    [[nodiscard]] Words& words() { return words_; }
    [[nodiscard]] std::vector<std::byte> take();  // the section's bytes; starts the next section

  private:
    std::string subject_;
    Words words_;
    std::uint64_t nodes_ = 0;
    std::uint64_t statements_ = 0;
    bool failed_ = false;
    Error error_;
};

// Writes the code of main or of a function: the word count, the block and, for functions, the
// returned expression. `inlined`: for each function so far, the number of its nodes with all calls
// inlined. For a function, appends its number.
void write_code(const Program& program, const Code& code, std::uint32_t arguments, bool function,
                std::vector<std::uint64_t>& inlined, Sink& out);

}  // namespace wye::ir::detail
