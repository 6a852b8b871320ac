// SPDX-License-Identifier: Apache-2.0
//
// Module: a program as trees, decoded from its wire form. The decoder shares no code with the
// project's reader, only the constants of wye/program_format.h.
//
// The decoder leaves checks of the canonical form (padding, unused bits) to the project's reader,
// but never reads outside the bytes: truncated or out-of-range input is Refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/value.hpp"

namespace oracle {

struct Node {
    std::uint32_t op = 0;   // enum wye_opcode
    std::uint32_t imm = 0;  // see program_format.h
    std::uint64_t extra = 0;
    std::vector<Node> args;
    std::optional<Value> known;  // set if equal for all invocations: an operation on literals
    std::uint32_t levels = 1;    // depth of nested nodes, those of called functions included
    std::uint32_t claim = 0;     // index in Launch::claims, if an analysis may claim something
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
    std::uint32_t op = 0;
    std::uint32_t imm = 0;
    std::uint32_t local = 0;  // declared or assigned
    std::uint32_t count = 0;  // of a VAR_ARRAY
    std::uint32_t claim = 0;  // as in Node
    std::vector<Node> args;   // in wire order
    Block body;
    Block otherwise;
};

struct Code {
    std::uint32_t locals = 0;
    Block block;
    std::optional<Node> result;  // of a function
    std::uint32_t levels = 0;    // the greatest `levels` of its nodes
};

struct SizeNode {
    std::uint32_t op = 0;
    std::uint32_t index = 0;
    std::uint64_t literal = 0;
};
using SizeExpr = std::vector<SizeNode>;  // prefix order

struct Buffer {
    std::string name;
    std::uint32_t role = 0;
    Type type;  // of an element
    std::uint32_t count_kind = 0;
    std::uint64_t count = 0;
    SizeExpr size;
};

struct Table {
    Type type;
    std::vector<std::uint64_t> bits;
};

struct Function {
    Type type;
    std::vector<Type> arguments;
    Code code;
};

struct Module {
    std::string name;
    std::array<std::uint32_t, 3> workgroup{};
    std::uint32_t subgroup = 0;
    bool adjustable = false;
    std::uint32_t grid_kind = WYE_GRID_NONE;
    std::vector<SizeExpr> axes;
    std::vector<Type> params;
    std::vector<Buffer> buffers;
    std::vector<Table> tables;
    std::vector<Function> functions;
    Code main;
    bool grid_barrier = false;  // whether main has one
    std::uint32_t claims = 0;   // the number of nodes and statements with a claim
};

// Decodes a program. Throws Refused.
Module read_module(std::span<const std::byte> wire);

}  // namespace oracle
