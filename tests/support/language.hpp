// SPDX-License-Identifier: Apache-2.0
//
// Reads the language reference (runtime/program/LANGUAGE.md) as data: its entries, its examples,
// its grammar. Values are parsed here, without the code under test. Values; pure.
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
    std::vector<std::byte> before;  // the values of an input; else zeros
    std::vector<std::byte> after;
};

// A whole program with a launch. A table of operations becomes such a program, whose operands are
// elements of its inputs.
struct ReferenceExample {
    std::size_t line = 0;             // line in the document
    std::vector<std::string> covers;  // the words of its entry; empty outside entries
    std::string text;
    std::string refused;                // text in the error; empty: the program runs
    std::vector<std::uint64_t> params;  // bits of the parameters, in declared order
    std::optional<std::array<std::uint32_t, 3>> groups;
    std::vector<ReferenceBuffer> buffers;  // not in binding order
    std::uint32_t trap_code = 0, trap_count = 0;
};

struct ReferenceEntry {
    std::size_t line = 0;
    std::vector<std::string> words;  // the words in its heading
    std::string code;                // all its examples, unchanged
};

struct Reference {
    std::vector<ReferenceEntry> entries;
    std::vector<ReferenceExample> examples;
    std::string grammar;
};

// Reads the document. Throws std::runtime_error that names the line.
[[nodiscard]] Reference language_reference();

}  // namespace support
