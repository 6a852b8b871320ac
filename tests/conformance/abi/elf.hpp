// SPDX-License-Identifier: Apache-2.0
//
// Reads the dynamic part of a 64-bit ELF file: what a shared object exports, and which libraries it
// names. The file is only read, never loaded, and every offset in the file is checked.
#pragma once

#include <string>
#include <vector>

namespace harness {

struct SharedObject {
    std::string fault;                 // why the file cannot be read; empty: the others are set
    std::vector<std::string> exports;  // defined and visible, in the file's order
    std::vector<std::string> needs;    // DT_NEEDED
};

[[nodiscard]] SharedObject read_shared_object(const char* path);

}  // namespace harness
