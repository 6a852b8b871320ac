// SPDX-License-Identifier: Apache-2.0
//
// The forms of counted loops.
#include "lower/analysis/literal_loop.hpp"
#include "lower/c/writer.hpp"
#include "lower/passes/open_loop.hpp"

namespace wye::lower {
namespace {

constexpr std::size_t kMostNodes = 96;  // of all rounds that are unrolled

// 1: no unrolling. Bodies with writes get fewer rounds, since writes separate the loads.
unsigned rounds_together(const LoopBody& body) {
    if (!body.writes && body.worth_several(kMostNodes / 8)) return 8;
    return body.worth_several(kMostNodes / 4) ? 4 : 1;
}

}  // namespace

// Runs several rounds at a time while that many are left, without overflow; then one at a time. The
// rounds are not counted, as compilers do to unroll loops, which takes a division and more loops
// for the rest. False: nothing is written.
bool CWriter::open_loop(const ir::Stmt& s, const std::string& start, const std::string& end,
                        const std::string& step) {
    const ir::Type type = code_.locals[s.local].type;
    const unsigned rounds = rounds_together(loop_body(program_, code_, s.body));
    if (rounds == 1 || type.bits() != 32) return false;
    const ir::Kind kind = type.kind;
    const bool is_signed = type.signed_integer();
    const std::string c_type(module_.use_type(kind));
    const std::string native =
        is_signed ? "(" + std::string(module_.spelling.type(kind)) + ")" : "";
    const std::string many = module_.literal(kind, rounds);
    const std::string most =
        module_.literal(kind, (is_signed ? 0x7fffffffU : 0xffffffffU) / rounds);
    const std::string least = module_.literal(kind, is_signed ? 0x80000000U : 0);
    const std::string jump = temporary(kind, step + " * " + many);
    const std::string above = native + (is_signed ? "(" + least + " + " + jump + ")" : jump);
    // A group of rounds may start below end - jump, if that does not overflow.
    const std::string stop =
        temporary(kind, step + " <= " + most + " && " + above + " < " + native + end + " ? " + end +
                            " - " + jump + " : " + least);
    const std::string at = "t" + std::to_string(temporaries_++);
    const std::string round = "t" + std::to_string(temporaries_++);
    const std::string i = "const " + c_type + " " + local_name(s.local, 0) + " = ";
    line(c_type + " " + at + " = " + bare(start) + ";");
    line("for (; " + native + at + " < " + native + stop + "; " + at + " += " + jump + ") {" +
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
    line("if (" + native + at + " < " + native + end + ") for (;; " + at + " += " + step + ") {");
    line("    " + i + at + ";");
    inner_block(s.body);
    line("    if (" + end + " - " + at + " <= " + step + ") break;");
    line("}");
    return true;
}

// i is start, start + step, ... while less than end.
void CWriter::counted_loop(ir::StmtId id, const std::string& start, const std::string& end,
                           const std::string& step) {
    const ir::Stmt& s = code_.stmts[id];
    const ir::Type type = code_.locals[s.local].type;
    const ir::Kind kind = type.kind;
    const std::string c_type(module_.use_type(kind));
    const std::string native =
        type.signed_integer() ? "(" + std::string(module_.spelling.type(kind)) + ")" : "";
    const std::string one = module_.literal(kind, 1);
    const std::string i = local_name(s.local, 0);
    const std::string note = comment(code_.locals[s.local].name);
    const std::string stepping = step == one ? "++" + i : i + " += " + step;
    if (!module_.facts.workgroup_loops && worth_unrolling(program_, code_, s))
        line("#pragma unroll");
    if (form_.ranges.plain_loops[id]) {
        line("for (" + c_type + " " + i + " = " + bare(start) + "; " + native + i + " < " + native +
             end + "; " + stepping + ") {" + note);
    } else {  // by round count: adding the step may overflow
        const bool from_zero = start == module_.literal(kind, 0);
        const std::string span = end + (from_zero ? "" : " - " + start) + " - " + one;
        const std::string trips = step == one ? span : "(" + span + ") / " + step;
        const std::string count =
            temporary(kind, native + start + " < " + native + end + " ? " + trips + " + " + one +
                                " : " + module_.literal(kind, 0));
        const std::string k = "t" + std::to_string(temporaries_++);
        line("for (" + c_type + " " + k + " = " + module_.literal(kind, 0) + ", " + i + " = " +
             start + "; " + k + " < " + count + "; ++" + k + ", " + stepping + ") {" + note);
    }
    inner_block(s.body);
    line("}");
}

std::string CWriter::in_range(const LoopLengths& lengths, const ir::Stmt& s,
                              const std::string& start, const std::string& end) {
    const ir::Kind kind = code_.locals[s.local].type.kind;
    std::string text;
    const auto and_also = [&](const std::string& test) {
        text += (text.empty() ? "" : " && ") + test;
    };
    if (ir::Type{kind, 1}.signed_integer() && start != module_.literal(kind, 0))
        and_also("(" + std::string(module_.spelling.type(kind)) + ")" + start + " >= 0");
    std::set<std::string> least;
    for (const std::uint32_t b : lengths.buffers)
        least.insert(text_of(middle::length_of(module_.form.buffer(b).count, kind)));
    for (const std::uint32_t t : lengths.tables)
        least.insert(text_of(middle::length_of(module_.form.table(t).count, kind)));
    for (const std::string& length : least) and_also(end + " <= " + length);
    return text;
}

}  // namespace wye::lower
