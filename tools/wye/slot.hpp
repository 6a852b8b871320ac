// SPDX-License-Identifier: Apache-2.0
//
// Slot: the host bytes of one buffer of a program that runs on files. Plain data; move-only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "memory.hpp"

namespace wye::tool {

struct Slot {
    std::string name;
    std::vector<std::byte> input;
    Memory output;
    std::string target;      // a file; empty: discarded
    std::size_t staged = 0;  // the number of that file among the staged outputs
};

}  // namespace wye::tool
