// SPDX-License-Identifier: Apache-2.0
//
// Slot: one buffer of a program that runs on files, with its host bytes. Plain data; move-only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/memory.hpp"
#include "output_form.hpp"

namespace wye::tool {

struct Slot {
    std::string name;
    std::string type;  // of its elements
    Element element{};
    bool persistent = false;  // it stays on the device, so that it may have input and output bytes
    std::vector<std::byte> input;
    Memory output;
    Shape shape;             // of the output; empty: one dimension
    std::string target;      // a file; "-": standard output; empty: none
    bool shown = false;      // as a table
    std::size_t staged = 0;  // the number of the file among the staged outputs

    // Whether the output is read back.
    [[nodiscard]] bool wanted() const { return shown || !target.empty(); }
    [[nodiscard]] Table table() const { return {name, type, element, shape, output.bytes()}; }
};

}  // namespace wye::tool
