// SPDX-License-Identifier: Apache-2.0
//
// Lists the operations of the language, each with its operand types and what a device needs for
// each. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wye::ir {

struct OperationForm {
    std::string type;                // scalar type of the operands, "u64"; empty: it takes none
    std::vector<std::string> needs;  // capabilities: fact names of wye/abi.h
};

struct Operation {
    std::string name;                  // "+", "fma", "atomic_add", "barrier"
    std::string memory;                // of atomics: "storage" or "shared"; else empty
    std::vector<OperationForm> forms;  // in the order of the language's types
};

// All operations in the order of wye/program_format.h: statements such as `barrier`, operators,
// functions, math functions and effects. Made at the first call.
[[nodiscard]] const std::vector<Operation>& operations();

}  // namespace wye::ir
