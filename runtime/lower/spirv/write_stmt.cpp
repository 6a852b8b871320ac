// SPDX-License-Identifier: Apache-2.0
//
// Writes statements in structured control flow. An `if` is a selection with its merge block. A loop
// has a header (with the test), a body, a continue block and a merge block.
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Op;
using spv::StorageClass;

}  // namespace

void SpirvWriter::jump(Op op) {
    if (op == Op::RETURN) return b_.end(spv::Op::OpReturn, {});
    if (op == Op::BREAK) return leave(loops_.back());
    b_.branch(loops_.back().next);
}

SpirvValue SpirvWriter::stored_value(ir::ExprId id, bool known) {
    SpirvValue v = right_side(id);
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = shallow(id, v.c[k], known);
    return v;
}

Id SpirvWriter::shallow(ir::ExprId id, Id component, bool always) {
    if (!context_.quirk(Quirk::LlvmpipeDeepValue) || !(always || deep_.deep(id))) return component;
    return b_.differing(code_.exprs[id].type.kind, component);
}

void SpirvWriter::declare(const ir::Stmt& s) {
    if (s.op == Op::LET) {
        locals_[s.local] = right_side(s.args[0]);
        return;
    }
    const ir::Type type = code_.locals[s.local].type;
    SpirvValue v;
    if (s.op == Op::VAR) v = stored_value(s.args[0]);
    SpirvValue& variables = locals_[s.local];
    variables.lanes = type.lanes;
    for (unsigned k = 0; k < type.lanes; ++k) {
        variables.c[k] = b_.variable(module_.value_type(type.kind));
        b_.store(variables.c[k], s.op == Op::VAR ? v.c[k] : zero(type.kind));
    }
}

void SpirvWriter::assign(const ir::Stmt& s) {
    const SpirvValue v = stored_value(s.args[0]);
    const SpirvValue& variables = locals_[s.local];
    if (s.op == Op::ASSIGN_COMPONENT) return b_.store(variables.c[s.imm], v.c[0]);
    for (unsigned k = 0; k < v.lanes; ++k) b_.store(variables.c[k], v.c[k]);
}

// The array is zeroed each time the declaration runs.
void SpirvWriter::declare_array(const ir::Stmt& s) {
    const middle::Array& array = form_.local_array(s.local);
    const Id type = module_.array_type(module_.value_type(array.cell), array.components());
    locals_[s.local].c[0] = b_.variable(type);
    fill(held(array), b_.u32(0), middle::fill_of(array.components(), 1));
}

// Whether the block may end a loop or the function.
bool SpirvWriter::leaves(ir::BlockId block) const {
    if (block == ir::kNone) return false;
    for (const ir::StmtId id : code_.blocks[block]) {
        const ir::Stmt& s = code_.stmts[id];
        if (s.op == Op::BREAK || s.op == Op::RETURN || s.op == Op::TRAP) return true;
        if (leaves(s.body) || leaves(s.otherwise)) return true;
    }
    return false;
}

void SpirvWriter::if_statement(const ir::Stmt& s) {
    Id condition = value(s.args[0]).c[0];
    if (context_.quirk(Quirk::LlvmpipeWayOut) && !loops_.empty() &&
        (leaves(s.body) || leaves(s.otherwise)))
        condition = b_.differing(ir::Kind::BOOL, condition);
    const bool has_else = s.otherwise != ir::kNone && !code_.blocks[s.otherwise].empty();
    const Id yes = module_.fresh();
    const Id merge = module_.fresh();
    const Id no = has_else ? module_.fresh() : merge;
    b_.selection(condition, yes, no, merge);
    b_.open(yes);
    block(s.body);
    bool left = b_.ended();
    if (!left) b_.branch(merge);
    if (has_else) {
        b_.open(no);
        block(s.otherwise);
        left = left && b_.ended();
        if (!b_.ended()) b_.branch(merge);
    }
    b_.open(merge);
    if (left && has_else) b_.end(spv::Op::OpUnreachable, {});
}

// Whether the expression takes more than one block.
bool SpirvWriter::branches(ir::ExprId id) const {
    if (form_.branches(id)) return true;
    for (const ir::ExprId operand : code_.operands_of(code_.exprs[id]))
        if (branches(operand)) return true;
    return false;
}

void SpirvWriter::while_statement(const ir::Stmt& s) {
    const Loop loop = open_loop();
    Id test = 0;
    Id condition = 0;
    if (branches(s.args[0]))  // a loop header must be one block
        test = module_.fresh();
    else
        condition = value(s.args[0]).c[0];
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, loop_control(s)});
    if (test != 0) {
        b_.branch(test);
        b_.open(test);
        condition = value(s.args[0]).c[0];
    }
    open_body(loop, condition);
    body(loop, s.body);
    close(loop);
}

void SpirvWriter::trap(ir::StmtId id) {
    record_trap(code_.stmts[id].imm);
    jump(Op::RETURN);
}

void SpirvWriter::record_trap(std::uint32_t code) {
    const Id word = module_.int_type(32);
    const Id scope = b_.u32(static_cast<std::uint32_t>(spv::Scope::Device));
    const Id relaxed = b_.u32(0);
    const auto change = [&](spv::Op op, std::uint32_t member, std::uint32_t operand) {
        const Id at[] = {b_.u32(member)};
        const Id to = b_.pointer(StorageClass::StorageBuffer, word, context_.trap_record(), at);
        b_.make(op, word, {to, scope, relaxed, b_.u32(operand)});
    };
    change(spv::Op::OpAtomicUMax, 0, code);
    change(spv::Op::OpAtomicIAdd, 1, 1);
}

void SpirvWriter::fill(const SpirvArray& array, Id first, const middle::Fill& fill) {
    const auto clear = [&](Id at) {
        const Id indices[] = {at};
        b_.store(b_.pointer(array.storage, array.element, array.variable, indices),
                 module_.null(array.element));
    };
    for (std::uint64_t k = 0; k < fill.stores; ++k) {
        const Id at = k == 0 ? first : b_.op(spv::Op::OpIAdd, first, b_.u32(k * fill.stride));
        const bool some = k + 1 == fill.stores && fill.rest != 0;
        if (!some) {
            clear(at);
            continue;
        }
        const Id inside = module_.fresh();
        const Id after = module_.fresh();
        b_.selection(b_.test(spv::Op::OpULessThan, first, b_.u32(fill.rest)), inside, after, after);
        b_.open(inside);
        clear(at);
        b_.branch(after);
        b_.open(after);
    }
    if (fill.stores != 0) return;
    const Loop loop = open_loop();
    const Id next = module_.typed(module_.fresh(), module_.int_type(32));
    const Id at = counter(loop, first, next);
    const Id goes_on = b_.test(spv::Op::OpULessThan, at, b_.u32(fill.count));
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, kNoLoopControl});
    open_body(loop, goes_on);
    clear(at);
    end_body(loop);
    b_.act(spv::Op::OpIAdd, {module_.int_type(32), next, at, b_.u32(fill.stride)});
    close(loop);
}

}  // namespace wye::lower
