// SPDX-License-Identifier: Apache-2.0
//
// Blocks and the ways out of them, with the barriers of the plan. An invocation that ends while
// others go on to a closing barrier jumps to that barrier.
#include "lower/c_writer.hpp"

namespace wye::lower {

void CWriter::main() {
    if (plan_.closes_main()) closings_.push_back({labels_++, true});
    block(program_.main.root);
    if (!closings_.empty()) {
        if (closings_.back().used) line("end" + std::to_string(closings_.back().label) + ":;");
        barrier();
        closings_.pop_back();
    }
    const std::string u32(module_.value_type(ir::Kind::U32));
    for (unsigned k = 0; k < seals_; ++k)
        out_ = "    volatile " + u32 + " seal" + std::to_string(k) + ";\n" + out_;
    if (uses_gone_) out_ = "    bool gone = false;\n" + out_;
}

bool CWriter::inner_block(ir::BlockId id) {
    ++indent_;
    const bool closes = plan_.closes(id);
    if (closes) closings_.push_back({labels_++, false});
    block(id);
    bool gone = false;
    if (closes) {
        gone = closings_.back().used;
        if (gone) line("end" + std::to_string(closings_.back().label) + ":;");
        barrier();
        closings_.pop_back();
    }
    --indent_;
    return gone;
}

void CWriter::goto_closing() {
    if (closings_.empty()) return line("return;");
    Closing& to = closings_.back();
    to.used = true;
    if (!to.main) {
        uses_gone_ = true;
        line("gone = true;");
    }
    line("goto end" + std::to_string(to.label) + ";");
}

void CWriter::seal() { line("seal" + std::to_string(seals_++) + " = 0u;"); }

void CWriter::leave_main(ir::StmtId id) {
    if (!plan_.together(id)) return goto_closing();
    line("return;");
}

}  // namespace wye::lower
