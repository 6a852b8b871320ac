// SPDX-License-Identifier: Apache-2.0
//
// Reads the language reference (runtime/program/LANGUAGE.md) as data: its entries, its examples,
// its grammar. This reader has its own parser of literals, so that it does not rely on the code
// under test. Pure values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace support {

struct ReferenceBuffer {
    std::string name;
    bool input = false;
    bool output = false;
    std::vector<std::byte> before;  // of an input: its values; else zeros
    std::vector<std::byte> after;
};

// A program with a launch. A table of operations in the document becomes such a program: it reads
// the operands from its inputs.
struct ReferenceExample {
    std::size_t line = 0;             // line in the document
    std::vector<std::string> covers;  // the words of the entry with this example; may be empty
    std::string text;
    std::string refused;                // what the error must contain; empty: the program runs
    std::vector<std::uint64_t> params;  // bits of the parameters, in declared order
    std::optional<std::array<std::uint32_t, 3>> groups;
    std::vector<ReferenceBuffer> buffers;  // not in binding order
    std::uint32_t trap_code = 0, trap_count = 0;
};

struct ReferenceEntry {
    std::size_t line = 0;
    std::vector<std::string> words;  // the words in the entry's heading
    std::string code;                // all examples of the entry, unchanged
};

struct Reference {
    std::vector<ReferenceEntry> entries;
    std::vector<ReferenceExample> examples;
    std::string grammar;
};

// Reads the document. Throws std::runtime_error that names the line.
[[nodiscard]] Reference language_reference();

}  // namespace support
