// SPDX-License-Identifier: Apache-2.0
//
// Statements, and small text helpers of the writer.
#include <fmt/core.h>

#include <cctype>
#include <utility>

#include "lower/c/lower.hpp"
#include "lower/c/writer.hpp"
#include "lower/middle/whole.hpp"

namespace wye::lower {

using ir::Kind;
using ir::Op;

bool is_atom(const std::string& text) {
    for (const char c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') return false;
    return !text.empty();
}

std::string bare(const std::string& text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
    int open = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] == '(') ++open;
        // The first parenthesis is closed before the end, so there is no outer pair.
        if (text[i] == ')' && --open == 0) return text;
    }
    return text.substr(1, text.size() - 2);
}

CWriter::CWriter(CModule& module, std::uint32_t function)
    : Walk(module.form, function, {module.workgroup, module.subgroup}),
      module_(module),
      launch_values_(program_, code_),
      negations_(program_, code_),
      powers_(module.facts.quirks.has(Quirk::NvvmPowers) ? Powers(code_) : Powers()),
      early_lanes_(module.facts.quirks.has(Quirk::PtxasEarlyLanes) && function == ir::kNone
                       ? EarlyLanes(program_)
                       : EarlyLanes()),
      regions_(form_.regions) {}

void CWriter::line(const std::string& text) {
    out_.append(static_cast<std::size_t>(indent_) * 4, ' ');
    out_ += text;
    if (module_.places && place_.line != 0)
        out_ += std::string(kPlaceMark) + std::to_string(place_.line) + ":" +
                std::to_string(place_.column);
    out_ += '\n';
}

std::string CWriter::temporary(Kind kind, const std::string& text) {
    std::string name = "t" + std::to_string(temporaries_++);
    line("const " + std::string(module_.use_type(kind)) + " " + name + " = " + bare(text) + ";");
    return name;
}

std::string CWriter::atom(Kind kind, const std::string& text) {
    return is_atom(text) ? text : temporary(kind, text);
}

std::string CWriter::comment(const std::string& name) const {
    return name.empty() ? std::string() : "  // " + sanitised(name);
}

void CWriter::return_result() {
    CValue v = value(code_.result);
    const ir::Type type = code_.exprs[code_.result].type;
    if (type.lanes == 1) return line("return " + bare(v.c[0]) + ";");
    const std::string name = "t" + std::to_string(temporaries_++);
    line(module_.vector_struct(type) + " " + name + ";");
    for (unsigned k = 0; k < v.lanes; ++k)
        line(name + "." + "xyzw"[k] + " = " + bare(v.c[k]) + ";");
    line("return " + name + ";");
}

// Writes a barrier, unless the workgroup has a single invocation or is split into regions.
void CWriter::barrier() {
    if (!module_.single() && !regions_.any()) line(module_.barrier());
}

// Writes a grid barrier, and kZeroShared: `shared` arrays are zero again after the barrier. The
// caller of main() replaces kZeroShared by the statements that zero them.
void CWriter::other(const ir::Stmt& s) {
    if (s.op != Op::GRID_BARRIER)
        return module_.refuse(
            Error(Code::UNSUPPORTED, fmt::format("`{}` is not lowered to C yet", ir::op_text(s.op)),
                  "Fix: use the `cpu` device, or leave the statement out", program_.name));
    const std::string_view body = module_.spelling.grid_barrier();
    if (body.empty())
        return module_.refuse(
            Error(Code::UNSUPPORTED,
                  fmt::format("`grid_barrier`{} ends a launch, and `{}` is one kernel",
                              at_place(place_), module_.spelling.format()),
                  "Fix: dispatch the program: the runtime splits it at its grid barriers",
                  program_.name));
    const std::string name = "wye_grid_barrier";
    if (!module_.has_helper(name))
        module_.add_helper(
            name, "void " + name + "(" +
                      module_.spelling.pointer(Space::Global, module_.value_type(Kind::U32), false,
                                               true) +
                      " const words) " + std::string(body));
    line(name + "(" + kGridBarrier + ");");
    out_ += kZeroShared;
    has_grid_barrier_ = true;
}

void CWriter::declare(const ir::Stmt& s) {
    const ir::Local& local = code_.locals[s.local];
    const std::string type(module_.use_type(local.type.kind));
    CValue v;
    v.lanes = local.type.lanes;
    if (s.op == Op::VAR_ZERO)
        for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = module_.literal(local.type.kind, 0);
    else
        v = right_side(s.args[0]);
    const std::string head =
        regions_.kept(s.local) ? std::string() : (s.op == Op::LET ? "const " : "") + type + " ";
    for (unsigned k = 0; k < v.lanes; ++k)
        line(head + local_name(s.local, k) + " = " + bare(v.c[k]) + ";" +
             (k == 0 ? comment(local.name) : std::string()));
}

void CWriter::assign(const ir::Stmt& s) {
    CValue v = right_side(s.args[0]);
    if (s.op == Op::ASSIGN_COMPONENT)
        return line(local_name(s.local, s.imm) + " = " + bare(v.c[0]) + ";");
    if (v.lanes > 1)  // the right side may read the variable that is assigned
        for (unsigned k = 0; k < v.lanes; ++k)
            v.c[k] = temporary(code_.locals[s.local].type.kind, v.c[k]);
    for (unsigned k = 0; k < v.lanes; ++k)
        line(local_name(s.local, k) + " = " + bare(v.c[k]) + ";");
}

// The array is zeroed each time the declaration runs.
void CWriter::declare_array(const ir::Stmt& s) {
    const ir::Local& local = code_.locals[s.local];
    const std::string name = name_of_array(form_.local_array(s.local));
    const std::string u32(module_.value_type(Kind::U32));
    const std::string count =
        std::to_string(static_cast<std::uint64_t>(local.count) * local.type.lanes);
    const std::string z = "t" + std::to_string(temporaries_++);
    if (!regions_.kept(s.local))
        line(std::string(module_.use_type(local.type.kind)) + " " + name + "[" + count + "];" +
             comment(local.name));
    line("for (" + u32 + " " + z + " = 0u; " + z + " < " + count + "u; ++" + z + ") " + name + "[" +
         z + "] = " + module_.literal(local.type.kind, 0) + ";");
}

std::string CWriter::whole_workgroup(const ir::Stmt& s) {
    if (!module_.facts.workgroup_loops || function_ != ir::kNone || indent_ != 1) return {};
    std::string text;
    for (const WholeGuard& guard : whole_guards(program_, s)) {
        const std::string size = std::to_string(module_.workgroup[guard.axis]);
        const std::string last = std::to_string(module_.workgroup[guard.axis] - 1);
        text += (text.empty() ? "" : " && ") + outer(Outer::Kind::WorkgroupId, guard.axis) + " * " +
                size + "u + " + last + "u < " + value(guard.bound).c[0];
    }
    return text;
}

void CWriter::if_statement(const ir::Stmt& s) {
    const CValue condition = value(s.args[0]);
    if (const std::string whole = whole_workgroup(s); !whole.empty()) {
        line("if (" + whole + ") {");
        inner_block(s.body);
        line("} else if (" + bare(condition.c[0]) + ") {");
    } else {
        line("if (" + bare(condition.c[0]) + ") {");
    }
    inner_block(s.body);
    if (s.otherwise != ir::kNone && !code_.blocks[s.otherwise].empty()) {
        line("} else {");
        inner_block(s.otherwise);
    }
    line("}");
}

// Whether the value of the expression cannot change while the loop that it bounds runs.
bool CWriter::unchanging(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    if (middle::is_leaf(e.op)) return true;
    switch (e.op) {
        case Op::BUILTIN:
            return true;
        case Op::COMPONENT:
            return code_.exprs[code_.operands_of(e)[0]].op == Op::BUILTIN;
        case Op::LOCAL: {
            const auto form = code_.locals[static_cast<std::uint32_t>(e.extra)].form;
            return form != ir::Local::Form::Var;
        }
        default:
            return false;
    }
}

void CWriter::while_statement(const ir::Stmt& s) {
    line("for (;;) {");
    ++indent_;
    if (const std::string_view mark = module_.spelling.endless_mark(); !mark.empty())
        line(std::string(mark));
    const CValue condition = value(s.args[0]);
    const std::string& test = condition.c[0];
    line("if (!" + (is_atom(test) ? test : "(" + bare(test) + ")") + ") break;");
    --indent_;
    inner_block(s.body);
    line("}");
}

}  // namespace wye::lower
