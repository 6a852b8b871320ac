// SPDX-License-Identifier: Apache-2.0
#include "plan/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/evaluate.hpp"
#include "plan/segment_uses.hpp"

namespace wye::plan {
namespace {

using ir::Op;

// Walks main in execution order. Iterates loops with grid barriers, and skips other statements
// without evaluating them.
class Walk {
  public:
    Walk(const ProgramPlan& plan, const Launch& launch)
        : program_(*plan.program),
          code_(program_.main),
          known_(plan, launch),
          uses_(code_),
          counters_(code_.stmts.size()),
          shares_(std::ranges::any_of(program_.buffers, &ir::Buffer::shared)) {}

    Result<std::vector<Phase>> run() {
        WYE_TRY(block(code_.root));
        WYE_TRY(end_phase());
        return std::move(out_);
    }

  private:
    Result<void> block(ir::BlockId id) {
        const auto& statements = code_.blocks[id];
        std::uint32_t first = 0;
        for (std::uint32_t at = 0; at < statements.size(); ++at) {
            const ir::Stmt& s = code_.stmts[statements[at]];
            if (s.op == Op::LET) known_.set(s.local, known_.value(s.args[0]));
            if (s.op != Op::GRID_BARRIER && !uses_.is_phase_loop(statements[at])) continue;
            WYE_TRY(add(id, first, at));
            first = at + 1;
            if (s.op == Op::GRID_BARRIER) {
                WYE_TRY(end_phase());
            } else {
                WYE_TRY(loop(statements[at]));
            }
        }
        return add(id, first, static_cast<std::uint32_t>(statements.size()));
    }

    Result<std::uint64_t> bound(const ir::Stmt& s, std::size_t which) {
        const auto value = known_.value(s.args[which]);
        if (value) return (*value)[0];
        static constexpr const char* kNames[] = {"beginning", "end", "step"};
        ir::Place place = code_.exprs[s.args[which]].place;
        if (place.line == 0) place = s.place;
        const std::string where =
            place.line == 0 ? "" : fmt::format(" at {}:{}", place.line, place.column);
        return Error(Code::UNSUPPORTED,
                     fmt::format("the {} of the loop{} around a `grid_barrier` can be computed on "
                                 "the device only",
                                 kNames[which], where),
                     "Fix: compute it from integer parameters, lengths, workgroup counts and "
                     "literals, without functions and loads",
                     program_.name);
    }

    Result<void> loop(ir::StmtId id) {
        const ir::Stmt& s = code_.stmts[id];
        const ir::Type type = code_.locals[s.local].type;
        WYE_ASSIGN(std::uint64_t counter, bound(s, 0));
        WYE_ASSIGN(const std::uint64_t end, bound(s, 1));
        WYE_ASSIGN(std::uint64_t step, bound(s, 2));
        // Signed values are compared as unsigned ones with the sign bit flipped, which have the
        // same order.
        const std::uint64_t all = type.bits() == 64 ? ~std::uint64_t{0} : 0xffffffffU;
        const std::uint64_t turn =
            type.signed_integer() ? std::uint64_t{1} << (type.bits() - 1) : 0;
        if ((step ^ turn) < (1 ^ turn)) step = 1;
        if ((counter ^ turn) >= (end ^ turn)) return {};
        for (;;) {
            if (++rounds_ > kMaxPhases) return too_many();
            counters_[id] = counter;
            known_.set(s.local, Evaluator::Value{counter});
            WYE_TRY(block(s.body));
            if (((end - counter) & all) <= step) break;
            counter = (counter + step) & all;
        }
        return {};
    }

    Result<void> add(ir::BlockId id, std::uint32_t first, std::uint32_t last) {
        if (first == last) return {};
        const Segment segment{id, first, last};
        const auto [at, fresh] = used_.try_emplace(segment);
        if (fresh) at->second = uses_.of(segment).counters;
        const std::vector<ir::StmtId>& used = at->second;
        const std::size_t others = program_.params.size() + current_.counters.size();
        const bool full = others + used.size() > WYE_LIMIT_PARAMS;
        if (full && !shares_) WYE_TRY(end_phase());
        current_.path.push_back(segment);
        std::vector<std::uint64_t>& counters =
            full && shares_ ? current_.path.back().literals : current_.counters;
        for (const ir::StmtId loop : used) counters.push_back(counters_[loop]);
        return {};
    }

    Result<void> end_phase() {
        if (current_.path.empty()) return {};
        if (out_.size() == kMaxPhases) return too_many();
        out_.push_back(std::move(current_));
        current_ = {};
        return {};
    }

    [[nodiscard]] Error too_many() const {
        return {Code::LIMIT_EXCEEDED,
                fmt::format("the grid barriers of program `{}` split this launch into more than {} "
                            "phases",
                            program_.name, kMaxPhases),
                "Fix: run fewer iterations of the loops with a grid barrier in one dispatch",
                program_.name};
    }

    const ir::Program& program_;
    const ir::Code& code_;
    Evaluator known_;
    SegmentUses uses_;
    std::map<Segment, std::vector<ir::StmtId>> used_;  // the counters that a segment uses
    std::vector<std::uint64_t> counters_;              // by StmtId: values in enclosing loops
    const bool shares_;                                // whether there are `shared` arrays
    std::size_t rounds_ = 0;
    Phase current_;
    std::vector<Phase> out_;
};

}  // namespace

Result<std::uint32_t> phase_params_bytes(const ir::Program& program) {
    SegmentUses uses(program.main);
    std::uint32_t most = 0;
    for (const Segment& segment : uses.segments()) {
        std::vector<ir::Param> params = program.params;
        for (const ir::StmtId loop : uses.of(segment).counters)
            params.push_back({{}, program.main.locals[program.main.stmts[loop].local].type, {}});
        if (params.size() > WYE_LIMIT_PARAMS)
            return Error(
                Code::LIMIT_EXCEEDED,
                fmt::format(
                    "program `{}` needs {} parameters between two grid barriers, loop counters "
                    "included; the limit is {}",
                    program.name, params.size(), WYE_LIMIT_PARAMS),
                "Fix: use fewer parameters, or fewer counters of loops around `grid_barrier`",
                program.name);
        most = std::max(most, ir::param_layout(params).size);
    }
    return most;
}

Result<std::vector<Phase>> phases(const ProgramPlan& plan, const Launch& launch) {
    return Walk(plan, launch).run();
}

}  // namespace wye::plan
