// SPDX-License-Identifier: Apache-2.0
//
// Writes main and functions as a whole: arguments, results, and the code before main's first
// statement.
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

// The maximum number of lanes of a vector in drivers that run invocations as vectors.
constexpr std::uint32_t kMostLanes = 16;

}  // namespace

using ir::Kind;
using Given = SpirvBuilder::Outer;

SpirvWriter::SpirvWriter(SpirvContext& context, SpirvSource& source, std::uint32_t function)
    : Walk(source.form, function, {context.workgroup, context.subgroup}),
      context_(context),
      source_(source),
      module_(context.module),
      deep_(code_),
      launch_values_(source.program, code_),
      b_(context),
      locals_(code_.locals.size()) {}

// Makes surplus workgroups of a folded grid return as a whole.
void SpirvWriter::leave_surplus_workgroups() {
    if (!context_.folded_grid) return;
    const auto count = [&](std::uint32_t axis) {
        return b_.resize(b_.outer(Given::Grid, axis), 64);
    };
    const Id total = b_.op(spv::Op::OpIMul, b_.op(spv::Op::OpIMul, count(3), count(4)), count(5));
    leave_if(b_.test(spv::Op::OpUGreaterThanEqual, b_.outer(Given::Linear), total));
}

// For the quirk `llvmpipe-end-of-row`: makes surplus vector lanes return, by a branch that no
// invocation of the program takes. In rows of one invocation, the branch tests the subgroup lane:
// the driver with this quirk puts each row into subgroups of its own. Other drivers do not, so they
// must not get the quirk.
void SpirvWriter::leave_surplus_lanes() {
    const std::uint32_t row = context_.workgroup[0];
    if (!context_.quirk(Quirk::LlvmpipeEndOfRow) || context_.subgroup != 0 || row % kMostLanes == 0)
        return;
    const Id id = row == 1 ? b_.outer(Given::SubgroupLane)
                           : b_.extract(b_.outer(Given::LocalInput), module_.int_type(32), 0);
    leave_if(b_.test(spv::Op::OpUGreaterThanEqual, id, b_.u32(row)));
}

// Zeroes the `shared` arrays. A barrier follows if invocations zero elements that others own.
void SpirvWriter::zero_shared() {
    std::vector<bool> used;
    for (const SpirvUsage::Buffer& each : context_.usage.buffers) used.push_back(each.touched);
    const middle::SharedZeros zeros = source_.form.zeros(used);
    for (const middle::ZeroedArray& each : zeros.arrays) {
        const SpirvArray array = held(each.array);
        if (each.start.how == SharedStart::How::Own)
            zero_own(array, each.start);
        else
            fill(array, b_.outer(Given::LocalIndex), each.fill);
    }
    if (zeros.barrier) b_.barrier();
}

// Zeroes the one element that this invocation owns.
void SpirvWriter::zero_own(const SpirvArray& array, const SharedStart& start) {
    Id at = b_.u32(start.first);
    for (unsigned k = 0; k < 3; ++k)
        if (start.factors[k] != 0)
            at = b_.op(
                spv::Op::OpIAdd, at,
                b_.op(spv::Op::OpIMul, b_.outer(Given::LocalId, k), b_.u32(start.factors[k])));
    for (unsigned k = 0; k < array.form->lanes(); ++k)
        b_.store(element(array, at, k), module_.null(array.element));
}

Words SpirvWriter::main(Id id) {
    leave_surplus_workgroups();
    leave_surplus_lanes();
    zero_shared();
    block(code_.root);
    if (!b_.ended()) b_.end(spv::Op::OpReturn, {});
    return b_.finish(id, module_.void_type(), {});
}

Words SpirvWriter::function(Id id) {
    const ir::Function& f = source_.program.functions[function_];
    std::vector<std::pair<Id, Id>> parameters;
    for (std::uint32_t a = 0; a < f.arguments; ++a) {
        const ir::Type type = code_.locals[a].type;
        locals_[a].lanes = type.lanes;
        for (unsigned k = 0; k < type.lanes; ++k) {
            const Id held = module_.value_type(type.kind);
            locals_[a].c[k] = module_.typed(module_.fresh(), held);
            parameters.emplace_back(locals_[a].c[k], held);
        }
    }
    block(code_.root);
    SpirvValue v = value(code_.result);
    Id type = module_.value_type(f.type.kind);
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = b_.not_one(v.c[k]);
    Id result = v.c[0];
    if (v.lanes > 1) {
        type = module_.vector_type(type, v.lanes);
        result =
            b_.make(spv::Op::OpCompositeConstruct, type, std::span<const Id>(v.c.data(), v.lanes));
    }
    b_.end(spv::Op::OpReturnValue, {result});
    return b_.finish(id, type, parameters);
}

Id spirv_function(SpirvContext& context, SpirvSource& source, std::uint32_t index) {
    Id& id = source.functions[index];
    if (id != 0) return id;
    id = context.module.fresh();
    context.module.name(id, source.program.functions[index].name);
    const Id made = id;
    context.module.add_function(SpirvWriter(context, source, index).function(made));
    return made;
}

}  // namespace wye::lower
