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
    std::string type;  // the type of the elements
    Element element{};
    bool persistent = false;  // the buffer stays on the device, so it may have input and output
    std::vector<std::byte> input;
    Memory output;
    Shape shape;             // of the output; empty: one dimension
    std::string target;      // a file; "-": standard output; empty: none
    bool shown = false;      // whether the output is printed as a table
    std::size_t staged = 0;  // the number of the file among the staged outputs

    // Whether the output is read back.
    [[nodiscard]] bool wanted() const { return shown || !target.empty(); }
    [[nodiscard]] Table table() const { return {name, type, element, shape, output.bytes()}; }
};

}  // namespace wye::tool
