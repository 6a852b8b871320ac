// SPDX-License-Identifier: Apache-2.0
//
// The dynamic part of an ELF file of 64 bits: what a shared object exports, and which libraries it
// names. Reads the file only; no offset in it is trusted.
#pragma once

#include <string>
#include <vector>

namespace harness {

struct SharedObject {
    std::string fault;                 // why it cannot be read; empty: the rest is known
    std::vector<std::string> exports;  // defined and visible, in the file's order
    std::vector<std::string> needs;    // DT_NEEDED
};

[[nodiscard]] SharedObject read_shared_object(const char* path);

}  // namespace harness
