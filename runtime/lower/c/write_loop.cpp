// SPDX-License-Identifier: Apache-2.0
//
// Writes counted loops.
#include "lower/c/writer.hpp"

namespace wye::lower {

using middle::LoopPart;
using Test = middle::Loop::Test;

void CWriter::for_statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    const middle::Loop loop = form_.loop(id);
    const auto once = [&](ir::ExprId e) {
        const std::string text = value(e).c[0];
        return unchanging(e) && is_atom(text) ? text : atom(loop.kind, "(" + text + ")");
    };
    Counted counted;
    counted.first = value(s.args[0]).c[0];
    if (loop.test != Test::Counter || loop.twice()) counted.first = atom(loop.kind, counted.first);
    counted.end = once(s.args[1]);
    if (loop.step != 0)
        counted.step = module_.literal(loop.kind, loop.step);
    else
        counted.step = loop_value(middle::loop_part(LoopPart::AtLeastOne, loop.kind), loop.kind,
                                  {atom(loop.kind, value(s.args[2]).c[0])});
    if (loop.together > 1) return groups_of_rounds(s, loop, counted);
    if (!loop.twice()) return counted_loop(s, loop, counted);
    line("if (" + in_range(loop, counted) + ") {");
    ++indent_;
    form_.assume(loop.lengths, true);
    counted_loop(s, loop, counted);
    form_.assume(loop.lengths, false);
    --indent_;
    line("} else {");
    ++indent_;
    counted_loop(s, loop, counted);
    --indent_;
    line("}");
}

std::string CWriter::loop_value(middle::FormKey key, ir::Kind kind,
                                const std::vector<std::string>& operands) {
    return temporary(kind, c_form(module_, key, operands));
}

// Writes the comparison a < b of counters. Operands of a signed comparison are cast.
std::string CWriter::less(const middle::Loop& loop, const std::string& a, const std::string& b) {
    const std::string native =
        loop.signed_counter() ? "(" + std::string(module_.spelling.type(loop.kind)) + ")" : "";
    return native + a + " < " + native + b;
}

// Writes a loop over groups of iterations, and then a loop for the remaining iterations.
void CWriter::groups_of_rounds(const ir::Stmt& s, const middle::Loop& loop,
                               const Counted& counted) {
    const ir::Kind kind = loop.kind;
    const std::string& step = counted.step;
    const std::string c_type(module_.use_type(kind));
    const std::string many = module_.literal(kind, loop.together);
    const std::string jump = temporary(kind, step + " * " + many);
    const std::string stop =
        loop_value(middle::group_stop(kind, loop.together), kind, {counted.end, step, jump});
    const std::string at = "t" + std::to_string(temporaries_++);
    const std::string round = "t" + std::to_string(temporaries_++);
    const std::string i = "const " + c_type + " " + local_name(s.local, 0) + " = ";
    line(c_type + " " + at + " = " + bare(counted.first) + ";");
    line("for (; " + less(loop, at, stop) + "; " + at + " += " + jump + ") {" +
         comment(code_.locals[s.local].name));
    ++indent_;
    line("#pragma unroll");
    line("for (" + c_type + " " + round + " = " + module_.literal(kind, 0) + "; " + round + " < " +
         many + "; ++" + round + ") {");
    line("    " + i + at + " + " + round + " * " + step + ";");
    inner_block(s.body);
    line("}");
    --indent_;
    line("}");
    line("if (" + less(loop, at, counted.end) + ") for (;; " + at + " += " + step + ") {");
    line("    " + i + at + ";");
    inner_block(s.body);
    const std::string operands[] = {at, counted.end, step};
    line("    if (" + c_form(module_, middle::loop_part(LoopPart::Last, kind), operands) +
         ") break;");
    line("}");
}

void CWriter::counted_loop(const ir::Stmt& s, const middle::Loop& loop, const Counted& counted) {
    const ir::Kind kind = loop.kind;
    const std::string c_type(module_.use_type(kind));
    const std::string zero = module_.literal(kind, 0);
    const std::string i = local_name(s.local, 0);
    const std::string note = comment(code_.locals[s.local].name);
    const std::string stepping = loop.step == 1 ? "++" + i : i + " += " + counted.step;
    if (loop.unroll == middle::Loop::Unroll::All) line("#pragma unroll");
    if (loop.test == Test::Counter) {
        line("for (" + c_type + " " + i + " = " + bare(counted.first) + "; " +
             less(loop, i, counted.end) + "; " + stepping + ") {" + note);
    } else {
        const bool from_zero = counted.first == zero;
        std::vector<std::string> operands;
        if (!from_zero) operands.push_back(counted.first);
        operands.push_back(counted.end);
        if (loop.step != 1) operands.push_back(counted.step);
        const std::string rounds =
            loop_value(middle::loop_rounds(kind, from_zero, loop.step == 1), kind, operands);
        const std::string k = "t" + std::to_string(temporaries_++);
        line("for (" + c_type + " " + k + " = " + zero + ", " + i + " = " + counted.first + "; " +
             k + " < " + rounds + "; ++" + k + ", " + stepping + ") {" + note);
    }
    inner_block(s.body);
    line("}");
}

// Writes a test such as "v3 <= n1 && v3 <= n2".
std::string CWriter::in_range(const middle::Loop& loop, const Counted& counted) {
    std::string text;
    const auto and_also = [&](const std::string& test) {
        text += (text.empty() ? "" : " && ") + test;
    };
    if (loop.signed_counter() && counted.first != module_.literal(loop.kind, 0))
        and_also("(" + std::string(module_.spelling.type(loop.kind)) + ")" + counted.first +
                 " >= 0");
    for (const middle::Leaf& length : form_.least_lengths(loop))
        and_also(counted.end + " <= " + leaf(length));
    return text;
}

}  // namespace wye::lower
