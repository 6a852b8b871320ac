// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv/context.hpp"

#include <fmt/core.h>

#include "lower/analysis/loop_rounds.hpp"
#include "lower/spirv/words.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using spv::Decoration;
using spv::StorageClass;

constexpr std::uint32_t kSet = 0;

}  // namespace

SpirvContext::SpirvContext(const ir::Program& program_, const TargetFacts& facts_,
                           const Options& options, std::uint32_t subgroup_)
    : program(program_),
      facts(facts_),
      workgroup(options.workgroup.value_or(program_.workgroup)),
      folded_grid(options.folded_grid),
      natives(options.natives),
      subgroup(subgroup_),
      forms(spirv_target(facts_, subgroup_)),
      source(program_, workgroup, forms.target(), options.check_free),
      usage(program_, source.form.ranges, facts_.quirks),
      buffers_(program_.buffers.size()),
      watches_loops_(facts_.loop_rounds != 0 &&
                     most_rounds(program_, invocations()) > facts_.loop_rounds) {
    lay_out();
}

void SpirvContext::refuse(std::string_view construct) {
    if (refusal_) return;
    refusal_ = Error(Code::UNSUPPORTED, fmt::format("`{}` is not lowered to SPIR-V yet", construct),
                     "Fix: use the `cpu` device, or leave it out", program.name);
}

// Declares slots in the order of the ABI. All except buffers and the trap words are in one block.
void SpirvContext::lay_out() {
    std::vector<std::uint32_t> bindings(program.buffers.size());
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
        const ir::Buffer& buffer = program.buffers[b];
        if (buffer.shared()) continue;
        bindings[b] = binding_count_++;
        slots_.push_back(
            {WYE_SLOT_BUFFER, bindings[b], 0, ir::role_writable(buffer.role) ? 3U : 1U, 0, {}});
    }
    const Id word = module.int_type(32);
    const Id two_words = module.vector_type(word, 2);
    const auto slot = [&](std::uint32_t kind, std::uint32_t binding) {
        slots_.push_back({kind, binding, member_offsets_.back(), 0, 0, {}});
    };
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
        if (!usage.buffers[b].length) continue;
        add_member(Slot::Length, b, two_words, 8);
        slot(WYE_SLOT_LENGTH, bindings[b]);
    }
    if (!program.params.empty()) {
        const ir::ParamLayout layout = ir::param_layout(program.params);
        if (layout.size % 8 == 0) block_bytes_ = (block_bytes_ + 7) & ~7U;
        const std::uint32_t start = block_bytes_;
        slots_.push_back({WYE_SLOT_PARAMS, 0, start, 0, 0, {}});
        for (std::uint32_t p = 0; p < program.params.size(); ++p) {
            const ir::Type type = program.params[p].type;
            block_bytes_ = start + layout.offsets[p];
            add_member(Slot::Param, p, type.bytes() == 8 ? two_words : module.value_type(type.kind),
                       type.bytes());
        }
        block_bytes_ = start + layout.size;
    }
    if (folded_grid) {
        for (std::uint32_t k = 0; k < 6; ++k) add_member(Slot::Grid, k, word, 4);
        slots_.push_back({WYE_SLOT_GRID, 0, block_bytes_ - 24, 0, 0, {}});
    }
    if (hides_constants() || usage.disguises || watches_loops()) {
        add_member(Slot::OpaqueZero, 0, two_words, 8);
        slot(WYE_SLOT_OPAQUE_ZERO, 0);
    }
    if (usage.trap || watches_loops()) slots_.push_back({WYE_SLOT_TRAP, 0, 0, 0, 0, {}});
    if (member_types_.empty()) return;

    const Id type = module.global(spv::Op::OpTypeStruct, member_types_);
    module.decorate(type, Decoration::Block);
    for (std::uint32_t m = 0; m < member_types_.size(); ++m)
        module.decorate_member(type, m, Decoration::Offset, {member_offsets_[m]});
    if (block_bytes_ <= facts.max_push_bytes) {
        block_ = module.variable(StorageClass::PushConstant, type);
    } else {
        block_storage_ = StorageClass::StorageBuffer;
        block_ = bind(type, binding_count_ + 1, true);
    }
    module.name(block_, "slots");
}

void SpirvContext::add_member(Slot slot, std::uint32_t index, Id type, unsigned bytes) {
    block_bytes_ = (block_bytes_ + bytes - 1) / bytes * bytes;
    members_[{slot, index}] = static_cast<std::uint32_t>(member_types_.size());
    member_types_.push_back(type);
    member_offsets_.push_back(block_bytes_);
    block_bytes_ += bytes;
}

Id SpirvContext::bind(Id type, std::uint32_t binding, bool readonly) {
    const Id variable = module.variable(StorageClass::StorageBuffer, type);
    module.decorate(variable, Decoration::DescriptorSet, {kSet});
    module.decorate(variable, Decoration::Binding, {binding});
    if (readonly) module.decorate(variable, Decoration::NonWritable);
    return variable;
}

// Returns a block that contains one run-time array of `element`.
Id SpirvContext::bound_struct(Id element, std::uint32_t stride) {
    Id& type = structs_[element];
    if (type != 0) return type;
    const Id array = module.global(spv::Op::OpTypeRuntimeArray, Words{element});
    module.decorate(array, Decoration::ArrayStride, {stride});
    type = module.global(spv::Op::OpTypeStruct, Words{array});
    module.decorate(type, Decoration::Block);
    module.decorate_member(type, 0, Decoration::Offset, {0});
    return type;
}

const SpirvArray& SpirvContext::variable(SpirvSource& from, const middle::Array& array) {
    const bool table = array.space == middle::Space::Constant;
    SpirvArray& out = table ? from.tables[array.number] : buffers_[array.number];
    if (out.variable != 0) return out;
    out.form = table ? &from.form.table(array.number) : &from.form.buffer(array.number);
    if (table)
        make_table(out, from.program.tables[array.number]);
    else
        make_buffer(out);
    return out;
}

void SpirvContext::make_buffer(SpirvArray& out) {
    const middle::Array& array = *out.form;
    const ir::Buffer& b = program.buffers[array.number];
    const ir::Type cell{array.cell, 1};
    if (b.shared()) {
        out.storage = StorageClass::Workgroup;
        out.element = module.value_type(array.cell);
        out.variable =
            module.variable(out.storage, module.array_type(out.element, array.components()));
    } else {
        out.storage = StorageClass::StorageBuffer;
        out.wrapped = true;
        const unsigned bytes = array.element_bytes();
        out.in_shared_words =
            array.narrow() && !(cell.bytes() == 1 ? facts.storage8 : facts.storage16);
        out.in_words = quirk(Quirk::NvidiaVkLastComponent) && array.packed && array.narrow() &&
                       bytes >= 4 && !out.in_shared_words;
        unsigned stride = array.packed ? bytes : cell.bytes();
        if (out.in_shared_words) {
            stride = 4;
            out.element = module.int_type(32);
        } else if (out.in_words) {
            const Id word = module.int_type(32);
            out.element = bytes == 4 ? word : module.vector_type(word, 2);
        } else {
            out.element =
                array.narrow() ? module.int_type(cell.bytes() * 8) : module.value_type(array.cell);
            if (array.packed) out.element = module.vector_type(out.element, array.lanes());
        }
        std::uint32_t binding = 0;
        for (std::uint32_t before = 0; before < array.number; ++before)
            binding += program.buffers[before].shared() ? 0 : 1;
        out.variable = bind(bound_struct(out.element, stride), binding, !ir::role_writable(b.role));
        const SpirvUsage::Buffer& used = usage.buffers[array.number];
        module.decorate(out.variable,
                        usage.coherent(array.number) ? Decoration::Coherent : Decoration::Restrict);
        if (!used.loaded && !used.atomic && !out.in_shared_words)
            module.decorate(out.variable, Decoration::NonReadable);
    }
    module.name(out.variable, b.name);
}

void SpirvContext::make_table(SpirvArray& out, const ir::Table& table) {
    out.storage = StorageClass::Private;
    out.element = module.value_type(out.form->cell);
    std::vector<Id> parts;
    for (const std::uint64_t bits : table.bits)
        parts.push_back(module.literal(table.type.kind, bits));
    const Id type = module.array_type(out.element, table.bits.size());
    out.variable = module.variable(out.storage, type, module.composite(type, parts));
    module.name(out.variable, table.name);
}

Id SpirvContext::input(spv::BuiltIn what, unsigned lanes) {
    Id& id = inputs_[what];
    if (id != 0) return id;
    const Id word = module.int_type(32);
    id = module.variable(StorageClass::Input, lanes == 1 ? word : module.vector_type(word, lanes));
    module.decorate(id, Decoration::BuiltIn, {code(what)});
    interface_.push_back(id);
    return id;
}

Id SpirvContext::trap_record() {
    if (trap_record_ != 0) return trap_record_;
    const Id word = module.int_type(32);
    const Id type = module.global(spv::Op::OpTypeStruct, Words{word, word});
    module.decorate(type, Decoration::Block);
    module.decorate_member(type, 0, Decoration::Offset, {0});
    module.decorate_member(type, 1, Decoration::Offset, {4});
    trap_record_ = bind(type, binding_count_, false);
    module.name(trap_record_, "trap_record");
    return trap_record_;
}

}  // namespace wye::lower
