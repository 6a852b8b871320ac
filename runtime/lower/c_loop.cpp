// SPDX-License-Identifier: Apache-2.0
//
// Loops whose ends and steps are known at run time only.
#include "lower/c_writer.hpp"
#include "lower/open_loop.hpp"

namespace wye::lower {
namespace {

constexpr std::size_t kMostNodes = 96;  // of all rounds that are written out together

// 1: one by one, as the compiler likes. Writes come between the loads, so they get fewer.
unsigned rounds_together(const LoopBody& body) {
    if (!body.writes && body.worth_several(kMostNodes / 8)) return 8;
    return body.worth_several(kMostNodes / 4) ? 4 : 1;
}

}  // namespace

// While enough rounds are left, so that nothing overflows, several at a time; then one by one.
// Nothing counts the rounds, as compilers must who unroll loops themselves: that takes a division
// and, for what is left over, more loops. False: nothing is written.
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
    // The last start of several is below end - jump, where there is such a number.
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

}  // namespace wye::lower
