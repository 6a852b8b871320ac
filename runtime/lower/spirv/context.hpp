// SPDX-License-Identifier: Apache-2.0
//
// State shared by main and the functions while a program is written as SPIR-V: all variables of the
// module (buffers, `shared` arrays, tables, built-in inputs, and the slot block, which has the
// parameters and lengths of a launch). Used by one thread for one lowering.
//
// Descriptor set 0: buffers at their bindings, the trap record at `binding_count`, and a slot block
// that does not fit in the push constants at `binding_count + 1`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lower/lower.hpp"
#include "lower/middle/code.hpp"
#include "lower/spirv/module.hpp"
#include "lower/spirv/usage.hpp"

namespace wye::lower {

// An array in SPIR-V.
struct SpirvArray {
    const middle::Array* form = nullptr;  // part of the program's form, or borrowed from the caller
    Id variable = 0;
    spv::StorageClass storage = spv::StorageClass::Function;
    Id element = 0;         // type of an access: a vector if packed, else a component
    bool in_words = false;  // packed narrow components are in one or two words
    // The device cannot access narrow elements. The array consists of words with two or four
    // components each, which may belong to different elements.
    bool in_shared_words = false;
    bool wrapped = false;  // whether the variable is a struct around a run-time array
};

// A source of functions and tables: the program or the library of emulations.
struct SpirvSource {
    SpirvSource(const ir::Program& p, std::array<std::uint32_t, 3> workgroup,
                const middle::Target& target, bool check_free)
        : program(p),
          form(p, workgroup, target, check_free),
          functions(p.functions.size()),
          tables(p.tables.size()) {}
    const ir::Program& program;
    const middle::ProgramForm form;
    std::vector<Id> functions;  // ids of the functions that are already written
    std::vector<SpirvArray> tables;
};

class SpirvContext {
  public:
    // `subgroup` is the program's subgroup width, or 0 if it uses none.
    SpirvContext(const ir::Program& program, const TargetFacts& facts, const Options& options,
                 std::uint32_t subgroup);

    const ir::Program& program;
    const TargetFacts& facts;
    const std::array<std::uint32_t, 3> workgroup;
    const bool folded_grid;
    const NativeSet natives;
    const std::uint32_t subgroup;
    middle::Forms forms;
    SpirvSource source;
    const SpirvUsage usage;
    SpirvModule module;
    // The library of emulations, once one of its functions is called.
    std::optional<SpirvSource> library;
    // The functions that were already written for long middle forms, by form.
    std::map<middle::FormKey, Id> form_functions;

    [[nodiscard]] std::uint32_t invocations() const {
        return workgroup[0] * workgroup[1] * workgroup[2];
    }
    // Returns the variable of a buffer, a `shared` array or a table.
    [[nodiscard]] const SpirvArray& variable(SpirvSource& from, const middle::Array& array);
    [[nodiscard]] Id input(spv::BuiltIn what, unsigned lanes);
    [[nodiscard]] Id trap_record();
    [[nodiscard]] const std::vector<Id>& interface() const { return interface_; }

    // The kinds of members of the slot block. A 64-bit value is two words, the low one first, so
    // that reading a length needs no 64-bit integers.
    enum class Slot : std::uint8_t { Length, Param, Grid, OpaqueZero };
    [[nodiscard]] std::uint32_t member(Slot slot, std::uint32_t index = 0) const {
        return members_.at({slot, index});
    }
    [[nodiscard]] Id member_type(std::uint32_t member) const { return member_types_[member]; }
    [[nodiscard]] Id block() const { return block_; }
    [[nodiscard]] spv::StorageClass block_storage() const { return block_storage_; }
    [[nodiscard]] const std::vector<wye_slot>& slots() const { return slots_; }
    [[nodiscard]] std::uint32_t binding_count() const { return binding_count_; }
    [[nodiscard]] bool quirk(Quirk which) const { return facts.quirks.has(which); }
    // Whether floats that the driver may fold are combined with the opaque zero.
    [[nodiscard]] bool hides_constants() const {
        return quirk(Quirk::MesaLiteralZero) && usage.arithmetic;
    }
    // Whether loops may exceed the driver's limit of iterations, so that each loop records how it
    // ended.
    [[nodiscard]] bool watches_loops() const { return watches_loops_; }

    // Records a refusal. Only the first one is kept. Afterwards the words are invalid, but writing
    // may continue.
    void refuse(std::string_view construct);
    [[nodiscard]] std::optional<Error> refusal() const { return refusal_; }

  private:
    void lay_out();
    void add_member(Slot slot, std::uint32_t index, Id type, unsigned bytes);
    Id bound_struct(Id element, std::uint32_t stride);
    Id bind(Id type, std::uint32_t binding, bool readonly);
    void make_buffer(SpirvArray& out);
    void make_table(SpirvArray& out, const ir::Table& table);

    std::vector<SpirvArray> buffers_;
    std::map<spv::BuiltIn, Id> inputs_;
    std::vector<Id> interface_;
    std::map<Id, Id> structs_;  // by element type
    const bool watches_loops_;
    Id trap_record_ = 0;

    std::map<std::pair<Slot, std::uint32_t>, std::uint32_t> members_;
    std::vector<Id> member_types_;
    std::vector<std::uint32_t> member_offsets_;
    std::uint32_t block_bytes_ = 0;
    Id block_ = 0;
    spv::StorageClass block_storage_ = spv::StorageClass::PushConstant;
    std::vector<wye_slot> slots_;
    std::uint32_t binding_count_ = 0;
    std::optional<Error> refusal_;
};

}  // namespace wye::lower
