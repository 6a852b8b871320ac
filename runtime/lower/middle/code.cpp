// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/code.hpp"

#include <algorithm>

#include "lower/analysis/barrier_data.hpp"
#include "lower/analysis/never_nan.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

constexpr std::array<std::uint32_t, 3> kOneInvocation = {1, 1, 1};

// Sets the kind of a component in memory, and the forms that load and store it.
void lay_out(Array& array) {
    const Kind kind = array.type.kind;
    const bool half_bits = kind == Kind::F16 && array.space == Space::Global;
    array.cell = kind;
    if (kind == Kind::BF16 || half_bits) {
        array.cell = Kind::U16;
        array.loaded = loaded(kind);
        array.stored = stored(kind);
    } else if (kind == Kind::F16) {
        array.cell = Kind::F32;
    } else if (kind == Kind::I32 || kind == Kind::I64) {
        array.cell = kind == Kind::I32 ? Kind::U32 : Kind::U64;
    } else if (array.type.floating() && array.space == Space::Global) {
        array.stored = stored(kind);
    }
}

void store_bits(Array& array) { array.cell = array.type.kind == Kind::F64 ? Kind::U64 : Kind::U32; }

// Whether the invocations of a workgroup wait for each other: at a barrier of main, or after they
// zeroed a `shared` array together at main's start.
bool waits(const ir::Program& program, std::array<std::uint32_t, 3> workgroup) {
    if (holds_barrier(program.main, program.main.root)) return true;
    if (std::ranges::none_of(program.buffers, &ir::Buffer::shared)) return false;
    const std::vector<SharedStart> starts = shared_starts(program, workgroup);
    for (std::size_t b = 0; b < starts.size(); ++b)
        if (program.buffers[b].shared() && starts[b].how == SharedStart::How::Fill) return true;
    return false;
}

// Whether a table of floats contains an infinity or a NaN.
bool has_special(const ir::Table& table) {
    const std::uint64_t exponent = table.type.kind == Kind::F64   ? 0x7ff0000000000000U
                                   : table.type.kind == Kind::F32 ? 0x7f800000U
                                                                  : 0x7c00U;
    return std::ranges::any_of(table.bits,
                               [&](std::uint64_t bits) { return (bits & exponent) == exponent; });
}

}  // namespace

ProgramForm::ProgramForm(const ir::Program& program_, std::array<std::uint32_t, 3> workgroup_,
                         const Target& target_, bool check_free)
    : program(program_),
      target(target_),
      workgroup(workgroup_),
      ranges(program_, workgroup_, check_free),
      whole_workgroups(target_.workgroup_loops && target_.quirks.has(Quirk::PoclBarriers) &&
                       workgroup_ != kOneInvocation && waits(program_, workgroup_)) {
    bool may_add = false;  // whether an addition to a float may need a compare-and-swap loop
    buffers_.resize(program.buffers.size());
    for (std::uint32_t b = 0; b < buffers_.size(); ++b) {
        const ir::Buffer& buffer = program.buffers[b];
        Array& array = buffers_[b];
        array.space = buffer.shared() ? Space::Shared : Space::Global;
        array.number = b;
        array.type = buffer.type;
        array.count = count_of(program, b);
        array.packed = !buffer.shared() && (buffer.type.lanes == 2 || buffer.type.lanes == 4);
        lay_out(array);
        may_add = may_add || (buffer.type.floating() && !target.adds_floats(buffer.type.kind) &&
                              (buffer.shared() || ir::role_writable(buffer.role)));
    }
    if (may_add) find_additions();
    tables_.resize(program.tables.size());
    for (std::uint32_t t = 0; t < tables_.size(); ++t) {
        const ir::Table& table = program.tables[t];
        Array& array = tables_[t];
        array.space = Space::Constant;
        array.number = t;
        array.type = table.type;
        array.count = {.fixed = true, .elements = table.bits.size()};
        lay_out(array);
        const bool special = target.quirks.has(Quirk::PoclNanInTable) && has_special(table);
        if (table.type.floating() && (target.tables_of_bits || special)) store_bits(array);
    }
}

// Finds atomic additions to floats. Searches main only, since functions have no effects.
void ProgramForm::find_additions() {
    for (const ir::Expr& e : program.main.exprs) {
        if (!ir::op_atomic(e.op)) continue;
        Array& array = buffers_[e.imm];
        if (!array.type.floating() || target.adds_floats(array.type.kind)) continue;
        array.adds_in_loop = true;
        if (!target.casts_pointers) store_bits(array);
    }
}

std::uint32_t ProgramForm::shared_bytes() const {
    std::uint64_t bytes = 0;
    for (const Array& array : buffers_)
        if (array.space == Space::Shared) bytes += array.bytes();
    return static_cast<std::uint32_t>(bytes);
}

CodeForm::CodeForm(const ProgramForm& program, std::uint32_t function)
    : code(function == ir::kNone ? program.program.main : program.program.functions[function].code),
      regions(function == ir::kNone && program.whole_workgroups ? Regions(code) : Regions()),
      program_(program),
      ranges_(&program.ranges.of(function)) {}

Array CodeForm::local_array(std::uint32_t number) const {
    const ir::Local& local = code.locals[number];
    Array array;
    array.number = number;
    array.type = local.type;
    array.count = {.fixed = true, .elements = local.count};
    lay_out(array);
    return array;
}

Access CodeForm::checked(const Array& array, ir::ExprId index, bool proven,
                         Access::Check check) const {
    const ir::Type type = code.exprs[index].type;
    Access out{array, index};
    out.kind = type.bits() == 64 ? Kind::U64 : Kind::U32;
    if (proven) return out;
    out.check = check;
    out.length = length_of(array.count, type.kind);
    return out;
}

Access CodeForm::access(ir::ExprId id) const {
    const ir::Expr& e = code.exprs[id];
    const auto check = ir::op_atomic(e.op) ? Access::Check::Skip : Access::Check::Zero;
    const auto of = [&](const Array& array) {
        return checked(array, code.operands_of(e)[0], ranges_->accesses[id], check);
    };
    if (e.op == Op::LOAD_TABLE) return of(program_.table(e.imm));
    if (e.op == Op::LOAD_ARRAY) return of(local_array(static_cast<std::uint32_t>(e.extra)));
    return of(program_.buffer(e.imm));
}

Bitcast CodeForm::bitcast(const ir::Expr& e) const {
    const ir::ExprId from_id = code.operands_of(e)[0];
    const ir::Type from = code.exprs[from_id].type;
    const bool halves = e.type.kind == Kind::F16 || from.kind == Kind::F16;
    using Part = BitcastPart;
    Bitcast out;
    if (from.lanes < e.type.lanes) {  // .x holds the low bits
        out.parts = {bitcast_part(halves ? Part::LowHalf : Part::LowWord),
                     bitcast_part(halves ? Part::HighHalf : Part::HighWord)};
    } else if (from.lanes > e.type.lanes) {
        out.parts[0] = bitcast_part(halves ? Part::Halves : Part::JoinWords);
    } else if (from.floating() && e.type.integer() && !code.math_definition &&
               !never_nan(code, from_id)) {
        out.canonical = stored(from.kind);
    }
    return out;
}

Access CodeForm::store(ir::StmtId id) const {
    const ir::Stmt& s = code.stmts[id];
    const Array array = s.op == Op::STORE ? program_.buffer(s.imm) : local_array(s.local);
    Access out = checked(array, s.args[0], ranges_->stores[id], Access::Check::Skip);
    out.clean = array.stored != kNoKey && !array.narrow() && never_nan(code, s.args[1]);
    return out;
}

}  // namespace wye::lower::middle
