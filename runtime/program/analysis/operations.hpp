// SPDX-License-Identifier: Apache-2.0
//
// Lists the operations of the language, with the operand types of each operation, and what a device
// needs for each type. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wye::ir {

struct OperationForm {
    std::string type;  // scalar type of the operands, such as "u64"; empty: no operands
    std::vector<std::string> needs;  // fact names of wye/abi.h
};

struct Operation {
    std::string name;                  // such as "+", "fma", "atomic_add", "barrier"
    std::string memory;                // for atomics "storage" or "shared", else empty
    std::vector<OperationForm> forms;  // in the order of the language's types
};

// Returns all operations in the order of wye/program_format.h: statements such as `barrier`,
// operators, functions, math functions and effects. The list is made at the first call and is
// static.
[[nodiscard]] const std::vector<Operation>& operations();

}  // namespace wye::ir
