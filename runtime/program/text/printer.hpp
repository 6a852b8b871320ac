// SPDX-License-Identifier: Apache-2.0
//
// The parts of `print`, for valid programs. Used by one thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

// Chooses the printed names of all locals of one body: their own names if these are legal and free,
// else generated ones. `math_set`: of the program. `taken`: names of declarations above the body.
// `lasting`: for each local, whether its name stays taken after a grid barrier; empty: all names
// stay taken.
[[nodiscard]] std::vector<std::string> local_names(const Code& code, std::uint32_t math_set,
                                                   std::unordered_set<std::string> taken,
                                                   const std::vector<bool>& lasting = {});

// Prints the statements and expressions of one body.
class CodePrinter {
  public:
    CodePrinter(const Program& program, const Code& code, const std::vector<std::string>& names,
                std::string& out)
        : program_(program), code_(code), names_(names), out_(out) {}

    void block(BlockId id, unsigned indent);  // the statements, without braces
    void expression(ExprId id, int least = 0);

  private:
    void statement(const Stmt& stmt, unsigned indent);
    void branch(const Stmt& stmt, unsigned indent);
    void assignment(const Stmt& stmt);
    void line(unsigned indent) { out_.append(indent * 4U, ' '); }
    void braces(BlockId id, unsigned indent);
    void list(const Expr& e, std::size_t first);
    void element(const std::string& name, const Expr& e);
    void effect(const Expr& e);
    void unary(const Expr& e);

    const Program& program_;
    const Code& code_;
    const std::vector<std::string>& names_;
    std::string& out_;
};

}  // namespace wye::ir::detail
