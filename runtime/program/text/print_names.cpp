// SPDX-License-Identifier: Apache-2.0
//
// Chooses names of locals for printing. A name is taken while its scope is open, because an inner
// name may not hide an outer one.
#include "program/text/printer.hpp"
#include "program/text/words.hpp"

namespace wye::ir::detail {
namespace {

class Namer {
  public:
    Namer(const Code& code, std::uint32_t math_set, std::unordered_set<std::string> taken,
          const std::vector<bool>& lasting)
        : code_(code),
          math_set_(math_set),
          taken_(std::move(taken)),
          lasting_(lasting),
          names_(code.locals.size()) {}

    std::vector<std::string> run() {
        for (std::size_t k = 0; k < code_.locals.size(); ++k)
            if (code_.locals[k].form == Local::Form::Argument) choose(k);
        block(code_.root);
        return std::move(names_);
    }

  private:
    void choose(std::size_t local) {
        if (local >= names_.size()) return;
        const std::string& given = code_.locals[local].name;
        const std::string base = legal_name(given, math_set_) ? given : "v" + std::to_string(local);
        std::string name = base;
        for (unsigned k = 2; taken_.count(name) != 0; ++k) {
            const std::string suffix = "_" + std::to_string(k);
            name = base.substr(0, WYE_LIMIT_NAME_BYTES - suffix.size()) + suffix;
        }
        taken_.insert(name);
        open_.emplace_back(name, local);
        names_[local] = std::move(name);
    }

    void block(BlockId id) {
        if (id >= code_.blocks.size()) return;
        const std::size_t mark = open_.size();
        for (const StmtId s : code_.blocks[id]) statement(code_.stmts[s]);
        close(mark);
    }

    void statement(const Stmt& stmt) {
        const std::size_t mark = open_.size();
        const bool declares = stmt.op == Op::LET || stmt.op == Op::VAR || stmt.op == Op::VAR_ZERO ||
                              stmt.op == Op::VAR_ARRAY || stmt.op == Op::FOR;
        if (declares) choose(stmt.local);
        if (stmt.op == Op::GRID_BARRIER)
            for (const auto& [name, local] : open_)
                if (local < lasting_.size() && !lasting_[local]) taken_.erase(name);
        block(stmt.body);
        block(stmt.otherwise);
        if (stmt.op == Op::FOR) close(mark);
    }

    void close(std::size_t mark) {
        for (; open_.size() > mark; open_.pop_back()) taken_.erase(open_.back().first);
    }

    const Code& code_;
    std::uint32_t math_set_;
    std::unordered_set<std::string> taken_;
    const std::vector<bool>& lasting_;
    std::vector<std::pair<std::string, std::size_t>> open_;
    std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> local_names(const Code& code, std::uint32_t math_set,
                                     std::unordered_set<std::string> taken,
                                     const std::vector<bool>& lasting) {
    return Namer(code, math_set, std::move(taken), lasting).run();
}

}  // namespace wye::ir::detail
