// SPDX-License-Identifier: Apache-2.0
//
// Writes one SPIR-V function. Its first block begins with the variables and a prologue: the outer
// values (ids, lengths, parameters), each made on first use. All other instructions go into the
// block that is open. Used by one thread, once.
#pragma once

#include <map>
#include <span>

#include "lower/middle/leaves.hpp"
#include "lower/spirv/context.hpp"

namespace wye::lower {

class SpirvBuilder {
  public:
    explicit SpirvBuilder(SpirvContext& context) : context(context), module(context.module) {}

    SpirvContext& context;
    SpirvModule& module;

    // Instructions ----------------------------------------------------------------------------
    Id make(spv::Op op, Id type, std::span<const std::uint32_t> operands);
    Id make(spv::Op op, Id type, std::initializer_list<std::uint32_t> operands) {
        return make(op, type, std::span(operands.begin(), operands.size()));
    }
    void act(spv::Op op, std::initializer_list<std::uint32_t> operands) { out_->add(op, operands); }
    // The result has the type of the first operand. Types are unsigned; signed operations get
    // signed operands, since some drivers read the sign from the operand's type.
    Id op(spv::Op o, Id a) { return make(o, module.type_of(a), {a}); }
    Id op(spv::Op o, Id a, Id b);
    Id test(spv::Op o, Id a, Id b);
    Id either(Id a, Id b) { return op(spv::Op::OpLogicalOr, a, b); }
    Id both(Id a, Id b) { return op(spv::Op::OpLogicalAnd, a, b); }
    Id select(Id condition, Id yes, Id no) {
        return make(spv::Op::OpSelect, module.type_of(yes), {condition, not_one(yes), not_one(no)});
    }
    Id glsl(GLSLstd450 function, Id type, std::initializer_list<std::uint32_t> operands);
    Id extract(Id composite, Id type, std::uint32_t index) {
        return make(spv::Op::OpCompositeExtract, type, {composite, index});
    }
    Id u32(std::uint64_t value) { return module.number(32, value); }
    Id u64(std::uint64_t value) { return module.number(64, value); }
    // Converts between the widths of unsigned integers.
    Id resize(Id value, unsigned bits) {
        return make(spv::Op::OpUConvert, module.int_type(bits), {value});
    }
    Id as_signed(Id value);
    // Compare integers.
    Id less(Id a, Id b, bool is_signed);
    Id equal(Id a, Id b);
    [[nodiscard]] bool quirk(Quirk which) const { return context.quirk(which); }
    // Returns the same integer, hidden from the driver if the device has the quirk.
    Id disguised(Quirk quirk, Id value);
    Id low_word(Id wide) { return resize(wide, 32); }
    Id high_word(Id wide) { return resize(op(spv::Op::OpShiftRightLogical, wide, u32(32)), 32); }
    Id join_words(Id low, Id high) {
        return op(spv::Op::OpBitwiseOr, resize(low, 64),
                  op(spv::Op::OpShiftLeftLogical, resize(high, 64), u32(32)));
    }
    Id bitcast(Id value, Id type) {
        return module.type_of(value) == type ? value : make(spv::Op::OpBitcast, type, {value});
    }

    // Floats ----------------------------------------------------------------------------------
    Id float_bits(ir::Kind kind, Id value) { return bitcast(value, bits_type(kind)); }
    Id bits_float(ir::Kind kind, Id bits) { return bitcast(bits, module.value_type(kind)); }
    Id bits_type(ir::Kind kind) { return module.int_type(kind == ir::Kind::F64 ? 64 : 32); }
    // Marks a float operation that drivers must not contract, reorder or simplify.
    Id exact(Id result) {
        module.decorate(result, spv::Decoration::NoContraction);
        return result;
    }
    // Makes an operation such as + - * /. Its operands are hidden, and its result counts as hidden.
    Id arithmetic(spv::Op o, ir::Kind kind, std::initializer_list<Id> operands);
    Id exact_glsl(GLSLstd450 function, ir::Kind kind, std::initializer_list<Id> operands);
    // Returns the same value, hidden from drivers that fold constants wrongly.
    Id hidden(ir::Kind kind, Id value);
    Id mark_hidden(Id value) {
        hidden_.add(value);
        return value;
    }

    // Blocks ----------------------------------------------------------------------------------
    void open(Id label);
    [[nodiscard]] Id here() const { return here_; }
    [[nodiscard]] bool ended() const { return ended_; }
    void end(spv::Op op, std::initializer_list<std::uint32_t> operands);
    void branch(Id to) { end(spv::Op::OpBranch, {to}); }
    void branch(Id condition, Id yes, Id no) {
        end(spv::Op::OpBranchConditional, {condition, yes, no});
    }
    void selection(Id condition, Id yes, Id no, Id merge);
    void barrier();

    // Memory ----------------------------------------------------------------------------------
    Id variable(Id type);  // a variable of this function
    Id load(Id type, Id pointer) { return make(spv::Op::OpLoad, type, {pointer}); }
    void store(Id pointer, Id value) { act(spv::Op::OpStore, {pointer, not_one(value)}); }
    // Returns the same value, written such that the driver takes it to differ between invocations.
    Id differing(ir::Kind kind, Id value);
    // Returns the same value. A constant 1.0 or -1.0, or an integer with these bits, is hidden from
    // the driver: in a select between such a constant and a zero, it would lose the zero's sign.
    Id not_one(Id value);
    Id pointer(spv::StorageClass storage, Id to, Id base, std::span<const Id> indices);

    // The values of middle::Outer in the same order, followed by parts of them and by other values.
    enum class Outer : std::uint8_t {
        Buffer,
        Length,
        SignedLength,
        Length64,
        Shared,
        Param,
        WorkgroupId,
        LocalId,
        GlobalId,
        NumWorkgroups,
        LocalIndex,
        SubgroupId,
        SubgroupLane,
        OpaqueZero,
        Trap,
        Linear,  // u64: the number of the workgroup in a folded grid
        OpaqueZero64,
        LaneZero,  // zero, but to drivers it looks different for each invocation
        LengthLow,
        LengthHigh,
        Grid,
        WorkgroupInput,
        LocalInput,
        CountInput
    };
    static_assert(static_cast<unsigned>(Outer::Linear) ==
                  static_cast<unsigned>(middle::Outer::End));
    Id outer(Outer what, std::uint32_t index = 0);
    Id leaf(const middle::Leaf& leaf) {
        if (!leaf.outer) return module.literal(leaf.kind, leaf.bits);
        return outer(static_cast<Outer>(*leaf.outer), static_cast<std::uint32_t>(leaf.bits));
    }

    // Returns the words of the function. `parameters` are pairs of id and type.
    [[nodiscard]] Words finish(Id function, Id result,
                               std::span<const std::pair<Id, Id>> parameters);

  private:
    Words hidden_operands(ir::Kind kind, std::initializer_list<Id> operands);
    Id make_outer(Outer what, std::uint32_t index);
    Id block_member(SpirvContext::Slot slot, std::uint32_t index);
    Id block_word(SpirvContext::Slot slot, std::uint32_t index, unsigned word);
    Id workgroup_id(unsigned axis);
    Id local_id(unsigned axis);
    Id local_index();
    Id linear();

    SpirvCode variables_, prologue_, body_;
    SpirvCode* out_ = &body_;
    Id first_ = module.fresh();  // the label of the entry block
    Id here_ = first_;
    bool ended_ = false;
    std::map<std::pair<Outer, std::uint32_t>, Id> outers_;
    SpirvIds hidden_;
};

}  // namespace wye::lower
