// SPDX-License-Identifier: Apache-2.0
#include "program/check/validate.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "program/check/validator.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir {

namespace detail {

std::string quoted(std::string_view name) {
    std::string out = "`";
    out += name;
    return out + "`";
}

std::string local_name(const Code& code, std::uint32_t local) {
    const std::string& name = code.locals[local].name;
    return quoted(name.empty() ? fmt::format("v{}", local) : name);
}

std::string Report::at(Place place) {
    if (place.line != 0) return fmt::format("at {}:{}", place.line, place.column);
    if (place.column == kResultColumn) return "in the returned value";
    return fmt::format("in statement {}", place.column);
}

void Report::code(std::uint32_t function, Place place, std::string message, std::string fix) {
    if (full()) return;
    Diagnostic d;
    d.message = std::move(message);
    d.fix = std::move(fix);
    if (place.line != 0) {
        d.place = place;
    } else {
        d.where = function == kNone || function >= program_.functions.size()
                      ? "main"
                      : fmt::format("function `{}`", program_.functions[function].name);
        if (place.column == kResultColumn)
            d.where += ", the returned value";
        else if (place.column != 0)
            d.where += fmt::format(", statement {}", place.column);
    }
    list_.push_back(std::move(d));
}

void Report::head(Place place, std::string where, std::string message, std::string fix) {
    if (full()) return;
    Diagnostic d;
    d.message = std::move(message);
    d.fix = std::move(fix);
    d.place = place;
    if (place.line == 0) d.where = std::move(where);
    list_.push_back(std::move(d));
}

std::vector<Diagnostic> Report::take() {
    std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        if (a.place.line != b.place.line) return a.place.line < b.place.line;
        return a.place.column < b.place.column;
    });
    if (list_.size() > kMaxDiagnostics) list_.resize(kMaxDiagnostics);
    return std::move(list_);
}

namespace {

class Numberer {
  public:
    explicit Numberer(Code& code) : code_(code) {}
    void run() {
        block(code_.root);
        tree(code_.result, kResultColumn);
    }

  private:
    void block(BlockId id) {
        if (id >= code_.blocks.size()) return;
        for (const StmtId s : code_.blocks[id]) {
            Stmt& stmt = code_.stmts[s];
            const std::uint32_t number = ++next_;
            if (stmt.place.line == 0) stmt.place.column = number;
            for (const ExprId e : stmt.args) tree(e, number);
            block(stmt.body);
            block(stmt.otherwise);
        }
    }
    void tree(ExprId root, std::uint32_t number) {
        if (root >= code_.exprs.size()) return;
        open_.assign(1, root);
        while (!open_.empty()) {
            Expr& e = code_.exprs[open_.back()];
            open_.pop_back();
            if (e.place.line == 0) e.place.column = number;
            for (const ExprId operand : code_.operands_of(e)) open_.push_back(operand);
        }
    }

    Code& code_;
    std::uint32_t next_ = 0;
    std::vector<ExprId> open_;
};

template <typename Visit>
void each_code(Program& program, Visit visit) {
    for (Function& f : program.functions) visit(f.code);
    visit(program.main);
}

}  // namespace

void number_places(Program& program) {
    each_code(program, [](Code& code) { Numberer(code).run(); });
}

void clear_numbers(Program& program) {
    each_code(program, [](Code& code) {
        for (Expr& e : code.exprs)
            if (e.place.line == 0) e.place.column = 0;
        for (Stmt& s : code.stmts)
            if (s.place.line == 0) s.place.column = 0;
    });
}

}  // namespace detail

std::vector<Diagnostic> validate(Program& program) {
    detail::Report report(program);
    detail::check_declarations(program, report);
    if (!detail::check_structure(program, report)) return report.take();
    detail::number_places(program);
    assign_types(program, [&report](const TypeProblem& problem) {
        report.code(problem.function, problem.place, problem.problem, problem.fix);
    });
    detail::check_code(program, report);
    detail::check_flow(program, report);
    detail::clear_numbers(program);
    return report.take();
}

}  // namespace wye::ir
