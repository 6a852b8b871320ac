// SPDX-License-Identifier: Apache-2.0
//
// Blocks and the jumps out of them. If one invocation of the device runs a whole workgroup, the
// regions of main become loops over the program's invocations (see Regions).
#include <fmt/core.h>

#include <utility>

#include "lower/c/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

bool of_invocation(Outer::Kind kind) {
    return kind == Outer::Kind::LocalId || kind == Outer::Kind::GlobalId ||
           kind == Outer::Kind::LocalIndex;
}

}  // namespace

std::string CWriter::outer(Outer::Kind kind, std::uint32_t index) {
    const Outer item{kind, index};
    if (!regions_.any() || !of_invocation(kind)) {
        outer_.insert(item);
    } else if (region_) {
        region_->ids.insert(item);
        if (kind == Outer::Kind::GlobalId) outer_.insert({Outer::Kind::WorkgroupId, index});
    } else {
        return "0u";  // outside of regions, values are the same for every invocation's id
    }
    return name_of(item);
}

std::string CWriter::base_name(std::uint32_t local, unsigned component) const {
    const ir::Local& l = code_.locals[local];
    std::string name = "v" + std::to_string(local);
    if (l.type.lanes > 1 && l.form != ir::Local::Form::Array) name += "xyzw"[component];
    return name;
}

std::string CWriter::local_name(std::uint32_t local, unsigned component) {
    const std::string name = base_name(local, component);
    if (regions_.again(local) && region_) region_->lets.insert(local);
    return regions_.kept(local) ? name + "[" + outer(Outer::Kind::LocalIndex) + "]" : name;
}

void CWriter::main() {
    block(program_.main.root);
    if (regions_.any()) define_kept();
    if (module_.facts.workgroup_loops) check_stack();
}

void CWriter::block(ir::BlockId id) {
    const bool parts = regions_.any() && !region_;
    for (const ir::StmtId s : code_.blocks[id]) {
        if (parts)
            part(s);
        else
            statement(s);
        if (early_lanes_.behind(s)) line(std::string(module_.spelling.subgroup_wait()));
    }
    if (parts) close_region();
}

// Writes a statement of a block that the workgroup runs together.
void CWriter::part(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    if (s.op == Op::LET && regions_.again(s.local)) return;
    if (s.op == Op::LET && regions_.uniform(s.local)) return before_region(id);
    if (regions_.together(id) || regions_.alone(id)) close_region();
    if (!regions_.together(id) && !region_) open_region();
    statement(id);
    if (regions_.alone(id)) close_region();
}

void CWriter::before_region(ir::StmtId id) {
    if (!region_) return statement(id);
    OpenRegion region = *std::exchange(region_, std::nullopt);
    const std::string after = out_.substr(region.start);
    out_.resize(region.start);
    --indent_;
    statement(id);
    ++indent_;
    region.start = out_.size();
    out_ += after;
    region_ = std::move(region);
}

void CWriter::inner_block(ir::BlockId id) {
    const unsigned together = regions_.any() && !region_ ? 1 : 0;
    ++indent_;
    blocks_together_ += together;
    block(id);
    blocks_together_ -= together;
    --indent_;
}

void CWriter::open_region() {
    region_.emplace();
    region_->start = out_.size();
    ++indent_;
    if (some_ended_) line("if (ended[" + outer(Outer::Kind::LocalIndex) + "]) continue;");
}

// Writes the heads of the loops over the invocations, and the ids that the region uses.
std::string CWriter::region_head() {
    const auto& size = module_.workgroup;
    const std::string u32(module_.value_type(Kind::U32));
    const OuterSet& ids = region_->ids;
    const std::string outside(static_cast<std::size_t>(indent_) * 4, ' ');
    const std::string inside = outside + "    ";
    std::string head, index;
    for (unsigned k = 3; k-- > 0;) {
        if (size[k] == 1) continue;
        const std::string id = name_of({Outer::Kind::LocalId, k});
        head += (head.empty() ? outside : "\n" + outside) + "for (" + u32 + " " + id + " = 0u; " +
                id + " < " + std::to_string(size[k]) + "u; ++" + id + ")";
        if (!index.empty())
            index = (is_atom(index) ? index : "(" + index + ")") + " * " + std::to_string(size[k]) +
                    "u + ";
        index += id;
    }
    head += " {\n";
    for (const Outer& item : ids) {
        const std::string start = inside + "const " + u32 + " " + name_of(item) + " = ";
        if (item.kind == Outer::Kind::LocalIndex) head += start + index + ";\n";
        if (item.kind == Outer::Kind::GlobalId)
            head += start + name_of({Outer::Kind::WorkgroupId, item.index}) + " * " +
                    std::to_string(size[item.index]) + "u + " +
                    name_of({Outer::Kind::LocalId, item.index}) + ";\n";
    }
    return head;
}

void CWriter::close_region() {
    if (!region_) return;
    if (region_->left) line("next" + std::to_string(region_count_) + ":;");
    const std::string body = out_.substr(region_->start);
    out_.resize(region_->start);
    std::string lets;
    // In reverse order, since writing a let adds to `region_->lets` the earlier lets that it uses.
    for (auto local = region_->lets.rbegin(); local != region_->lets.rend(); ++local) {
        const std::string before = std::exchange(out_, {});
        statement(regions_.let(*local));
        lets.insert(0, out_);
        out_ = before;
    }
    --indent_;
    out_ += region_head() + lets + body;
    region_.reset();
    ++region_count_;
    line("}");
}

// Writes `break`, `continue` or a return from main. Outside of regions the workgroup returns; in a
// region the invocation leaves the region, and later regions skip it.
void CWriter::jump(Op op) {
    if (op != Op::RETURN) return line(op == Op::BREAK ? "break;" : "continue;");
    if (!region_) return line("return;");
    if (blocks_together_ != 0) {
        some_ended_ = true;
        line("ended[" + outer(Outer::Kind::LocalIndex) + "] = true;");
    }
    region_->left = true;
    line("goto next" + std::to_string(region_count_) + ";");
}

// Records the trap. Each invocation that traps is counted.
void CWriter::trap(ir::StmtId id) {
    if (regions_.together(id)) open_region();
    const std::string record = outer(Outer::Kind::Trap);
    const std::string code[] = {module_.literal(Kind::U32, code_.stmts[id].imm)};
    const std::string one[] = {module_.literal(Kind::U32, 1)};
    line(module_.spelling.atomic(Op::ATOMIC_MAX, Kind::U32, Space::Global, "&" + record + "[0]",
                                 code) +
         ";");
    line(module_.spelling.atomic(Op::ATOMIC_ADD, Kind::U32, Space::Global, "&" + record + "[1]",
                                 one) +
         ";");
    if (regions_.together(id)) close_region();
    jump(Op::RETURN);
}

// Declares arrays for the kept variables, with an element for each invocation.
void CWriter::define_kept() {
    const std::uint64_t invocations = module_.invocations();
    std::uint64_t bytes = 0;
    std::string text;
    for (std::uint32_t i = 0; i < code_.locals.size(); ++i) {
        if (!regions_.kept(i)) continue;
        const ir::Local& local = code_.locals[i];
        const bool array = local.form == ir::Local::Form::Array;
        const unsigned lanes = local.type.lanes;
        const std::uint64_t each = array ? std::uint64_t{local.count} * lanes : 1;
        const std::string type(module_.use_type(local.type.kind));
        for (unsigned k = 0; k < (array ? 1 : lanes); ++k)
            text += "    " + type + " " + base_name(i, k) + "[" +
                    std::to_string(invocations * each) + "];" + comment(local.name) + "\n";
        bytes += invocations * (array ? each : lanes) * (local.type.bits() == 64 ? 8 : 4);
    }
    if (some_ended_) text += "    bool ended[" + std::to_string(invocations) + "] = {false};\n";
    out_ = text + out_;
    kept_bytes_ = bytes;
}

// Refuses a program whose kept variables and arrays do not fit on the stack of a driver's thread.
void CWriter::check_stack() {
    std::uint64_t arrays = 0;
    for (std::uint32_t i = 0; i < code_.locals.size(); ++i) {
        const ir::Local& local = code_.locals[i];
        if (local.form != ir::Local::Form::Array || regions_.kept(i)) continue;
        arrays += std::uint64_t{local.count} * local.type.lanes * (local.type.bits() == 64 ? 8 : 4);
    }
    const std::uint64_t most = module_.facts.stack_bytes;
    if (kept_bytes_ + arrays <= most) return;
    module_.refuse(Error(
        Code::LIMIT_EXCEEDED,
        fmt::format("program `{}` has {} bytes of arrays, and keeps {} bytes of variables "
                    "across barriers for {} invocations; together these exceed the {} bytes that "
                    "kernels can use of a thread's stack",
                    sanitised(program_.name), arrays, kept_bytes_, module_.invocations(), most),
        "Fix: use smaller workgroups or fewer and smaller variables there, a larger stack "
        "(`ulimit -s`), or another device",
        program_.name));
}

}  // namespace wye::lower
