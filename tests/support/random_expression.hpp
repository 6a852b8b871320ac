// SPDX-License-Identifier: Apache-2.0
//
// Makes random well-typed expressions of the language, as text: the inner part of
// random_program.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "wye/program_format.h"

namespace support {

// Joins texts. Use a braced list, whose elements are evaluated in order. The operands of `+` may be
// evaluated in any order. Each text draws random numbers, and a seed must give the same program
// everywhere.
std::string cat(std::initializer_list<std::string> parts);

struct TextType {
    unsigned kind = WYE_KIND_U32;
    unsigned lanes = 1;
    friend bool operator==(TextType, TextType) = default;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] TextType with_lanes(unsigned n) const { return {kind, n}; }
    [[nodiscard]] bool boolean() const { return kind == WYE_KIND_BOOL; }
    [[nodiscard]] bool floating() const {
        return kind == WYE_KIND_F16 || kind == WYE_KIND_F32 || kind == WYE_KIND_F64;
    }
    [[nodiscard]] bool is_signed() const { return kind == WYE_KIND_I32 || kind == WYE_KIND_I64; }
    [[nodiscard]] bool integer() const { return !boolean() && !floating(); }
    [[nodiscard]] unsigned scalar_bytes() const;
    [[nodiscard]] TextType loaded() const;     // the type that a load of a buffer element gives
    [[nodiscard]] std::string suffix() const;  // of a decimal literal of an integer type
};
inline constexpr TextType kTextBool{WYE_KIND_BOOL, 1};
inline constexpr TextType kTextU32{WYE_KIND_U32, 1};

// The names that an expression may use. A block removes its own names from these lists at its end.
struct Variable {
    std::string name;
    TextType type;
    bool assignable = false;  // declared by `var`
    bool array = false;       // a local array
    bool uniform = false;     // equal within a workgroup
};
struct Memory {
    std::string name;
    TextType element;
    bool uniform = false;           // a uniform index loads a uniform value (read-only memory)
    bool readable = true;           // may be read at this point of the program
    std::vector<std::string> own;   // if not empty, only these indices may be used
    bool indexed_by_place = false;  // `own` uses built-in values, which functions do not have
    bool single = false;            // an invocation owns only the element of its number
    std::size_t count = 0;          // number of elements, if the program states it; else 0
    bool table = false;
};
struct Callable {
    std::string name;
    TextType type;
    std::vector<TextType> arguments;
};

struct Scope {
    std::vector<Variable> variables;
    std::vector<Variable> params;
    std::vector<Memory> memory;
    std::vector<Callable> functions;
    bool in_function = false;
    bool uniform_only = false;
    bool subgroups = false;  // subgroup values may be used
    unsigned math = 0;       // the math set for functions of f32 and f64; 0: no functions
};

class Expressions {
  public:
    Expressions(Random& random, Scope& scope, std::vector<unsigned> kinds)
        : random_(random), scope_(scope), kinds_(std::move(kinds)) {}

    std::string expression(TextType type, int depth);
    std::string index(int depth);  // of an integer type; often less than a small array's size
    TextType any_type(bool with_bool = true);
    TextType integer_type();  // a scalar type
    std::string literal(TextType type);

  private:
    std::string leaf(TextType type);
    std::string load(TextType type, int depth);  // empty if nothing can be loaded
    std::string integer(TextType type, int depth);
    std::string floating(TextType type, int depth);
    std::string math(TextType type, int depth);
    std::string boolean(TextType type, int depth);
    std::string vector(TextType type, int depth);
    std::string general(TextType type, int depth);
    std::string conversion(TextType type, int depth);
    std::string bitcast(TextType type, int depth);
    std::string call(const std::string& name, const std::vector<TextType>& types, int depth);
    std::string binary(const std::string& op, TextType a, TextType b, int depth);
    std::string place();  // a built-in value of type u32
    [[nodiscard]] bool has_half() const;

    Random& random_;
    Scope& scope_;
    std::vector<unsigned> kinds_;  // kinds of the values in use; bool is the first
};

}  // namespace support
