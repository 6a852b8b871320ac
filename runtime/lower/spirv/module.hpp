// SPDX-License-Identifier: Apache-2.0
//
// A SPIR-V module under construction. Instructions are words, types and constants are made once,
// and capabilities are declared on use. Knows nothing of programs. Used by one thread, once.
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Returns the number of a SPIR-V enumerator.
constexpr std::uint32_t code(auto value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t kNoLoopControl = code(spv::LoopControlMask::MaskNone);

using Id = std::uint32_t;  // 0 stands for no id
using Words = std::vector<std::uint32_t>;

// A sequence of instructions.
class SpirvCode {
  public:
    // The operands are those of `first`, then those of `rest`.
    void add(spv::Op op, std::initializer_list<std::uint32_t> first,
             std::span<const std::uint32_t> rest);
    void add(spv::Op op, std::span<const std::uint32_t> operands) { add(op, {}, operands); }
    void add(spv::Op op, std::initializer_list<std::uint32_t> operands) { add(op, operands, {}); }
    [[nodiscard]] const Words& words() const { return words_; }

  private:
    Words words_;
};

class SpirvIds {
  public:
    [[nodiscard]] bool has(Id id) const { return id < marks_.size() && marks_[id]; }
    void add(Id id) {
        if (id >= marks_.size()) marks_.resize(id + 1 + marks_.size() / 2);
        marks_[id] = true;
    }

  private:
    std::vector<bool> marks_;
};

class SpirvModule {
  public:
    [[nodiscard]] Id fresh() { return next_++; }
    [[nodiscard]] Id bound() const { return next_; }

    void capability(spv::Capability capability, std::string_view extension = {});
    [[nodiscard]] Id glsl();  // the id of the instruction set GLSL.std.450

    // Types. All integer types are unsigned, and operations carry the sign.
    [[nodiscard]] Id void_type();
    [[nodiscard]] Id bool_type();
    [[nodiscard]] Id int_type(unsigned bits);        // 8 and 16 bits: storage and conversion only
    [[nodiscard]] Id signed_type(Id unsigned_type);  // 32 and 64 bits
    [[nodiscard]] Id float_type(unsigned bits);      // 16 bits: storage and conversion only
    [[nodiscard]] Id vector_type(Id component, unsigned lanes);
    [[nodiscard]] Id array_type(Id element, std::uint64_t count);  // without a stride
    [[nodiscard]] Id struct_type(std::span<const Id> members);     // without a layout
    [[nodiscard]] Id pointer_type(spv::StorageClass storage, Id to);
    [[nodiscard]] Id function_type(Id result, std::span<const Id> arguments);
    // The type of a value of this kind in computations: f16 is held as f32.
    [[nodiscard]] Id value_type(ir::Kind kind);
    [[nodiscard]] bool has_float(unsigned bits) const { return floats_.count(bits) != 0; }

    // Constants.
    [[nodiscard]] Id number(unsigned bits, std::uint64_t value);  // an integer
    [[nodiscard]] Id signed_number(Id type, std::uint64_t bits);
    [[nodiscard]] Id truth(bool value);
    [[nodiscard]] Id float_number(unsigned bits, std::uint64_t pattern);
    [[nodiscard]] Id literal(ir::Kind kind, std::uint64_t bits);
    [[nodiscard]] Id null(Id type);
    [[nodiscard]] Id composite(Id type, std::span<const Id> parts);
    // The type of a value: the type that `typed` set, or the type of the constant. 0 if unknown.
    [[nodiscard]] Id type_of(Id value) const { return value < types_.size() ? types_[value] : 0; }
    // Whether the value is a 64-bit integer. Unlike type_of(value) == int_type(64), this declares
    // no type, and so no capability.
    [[nodiscard]] bool is_int64(Id value) const {
        return ints_[3] != 0 && type_of(value) == ints_[3];
    }
    Id typed(Id value, Id type);
    // The bits of an integer or float constant.
    [[nodiscard]] std::optional<std::uint64_t> known(Id id) const;
    struct Number {
        std::uint64_t bits = 0;
        bool wide = false;
        bool floating = false;
    };
    [[nodiscard]] std::optional<Number> number_of(Id id) const;
    // Whether the value is a constant or computed only from constants, so that drivers know it when
    // they compile.
    [[nodiscard]] bool constant(Id id) const { return constants_.has(id); }
    void mark_constant(Id id) { constants_.add(id); }

    void decorate(Id id, spv::Decoration decoration,
                  std::initializer_list<std::uint32_t> operands = {});
    void decorate_member(Id type, std::uint32_t member, spv::Decoration decoration,
                         std::initializer_list<std::uint32_t> operands = {});
    void name(Id id, std::string_view text);
    // A variable outside of functions.
    [[nodiscard]] Id variable(spv::StorageClass storage, Id type, Id initializer = 0);
    // Makes a type that must not be shared. Each call gives a new result.
    [[nodiscard]] Id global(spv::Op op, std::span<const std::uint32_t> operands);
    void execution_mode(spv::ExecutionMode mode, std::initializer_list<std::uint32_t> operands);
    void add_function(const Words& code) {
        functions_.insert(functions_.end(), code.begin(), code.end());
    }

    // Returns the words of the whole module: version 1.3, with one compute entry point.
    [[nodiscard]] Words finish(Id main, std::string_view entry,
                               std::array<std::uint32_t, 3> workgroup,
                               std::span<const Id> interface) const;

  private:
    Id once(spv::Op op, std::span<const std::uint32_t> operands, bool typed = false);
    Id once(spv::Op op, std::initializer_list<std::uint32_t> operands, bool typed = false) {
        return once(op, std::span(operands.begin(), operands.size()), typed);
    }
    Id constant_bits(Id type, bool wide, std::uint64_t bits);

    // Where a type or constant is in `globals_`.
    struct Known {
        std::size_t at = 0;
        Id id = 0;
    };

    Id next_ = 1;
    Id glsl_ = 0;
    std::set<spv::Capability> capabilities_;
    std::set<std::string, std::less<>> extensions_;
    std::set<unsigned> floats_;
    std::array<Id, 4> ints_{};                             // of 8, 16, 32 and 64 bits
    std::unordered_multimap<std::uint64_t, Known> known_;  // by hash of opcode and operands
    std::unordered_map<Id, Number> numbers_;
    SpirvIds constants_;
    std::vector<Id> types_;  // by value
    std::vector<Words> modes_;
    SpirvCode names_, decorations_, globals_;
    Words functions_;
};

// Returns a text as SPIR-V words, terminated and padded with zeros.
[[nodiscard]] Words string_words(std::string_view text);

}  // namespace wye::lower
