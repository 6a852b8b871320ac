// SPDX-License-Identifier: Apache-2.0
//
// Finds which elements of a `shared` array are written before the first barrier, and by which
// invocation. If an index depends on the local id alone, evaluates the index for every local id.
#include "lower/passes/shared_start.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "program/analysis/access.hpp"
#include "program/analysis/analysis.hpp"

namespace wye::lower {
namespace {

using ir::Op;
using How = SharedStart::How;

// The index of an access for each invocation, by local index.
using Image = std::vector<std::uint32_t>;

class Starts {
  public:
    Starts(const ir::Program& program, std::array<std::uint32_t, 3> workgroup)
        : program_(program),
          code_(program.main),
          workgroup_(workgroup),
          lets_(ir::detail::let_values(program.main)),
          reads_(ir::detail::function_reads(program)) {}

    SharedStart start(std::uint32_t buffer) {
        buffer_ = buffer;
        SharedStart out;
        if (written_first(code_.root)) {
            out.how = How::Nothing;
        } else if (const auto own = own_elements(); own && linear(*own, out)) {
            out.how = How::Own;
        }
        return out;
    }

  private:
    [[nodiscard]] std::optional<Image> image(ir::ExprId id) const;
    [[nodiscard]] std::optional<Image> image(ir::ExprId id, unsigned& budget) const;
    [[nodiscard]] Image local_id(unsigned axis) const;

    // ---- accesses to the array ----

    [[nodiscard]] bool reads(const ir::Expr& e) const {
        if (e.op == Op::CALL) return reads_[e.imm][buffer_];
        return (e.op == Op::LOAD || e.op == Op::WORKGROUP_UNIFORM_LOAD || ir::op_atomic(e.op)) &&
               e.imm == buffer_;
    }
    [[nodiscard]] bool reads(ir::ExprId root) const {
        bool found = false;
        ir::detail::each_node(code_, root, [&](const ir::Expr& e) { found = found || reads(e); });
        return found;
    }
    [[nodiscard]] bool own_reads(const ir::Stmt& s) const {
        return std::ranges::any_of(s.args, [&](ir::ExprId e) { return reads(e); });
    }
    [[nodiscard]] bool stores(const ir::Stmt& s) const {
        return s.op == Op::STORE && s.imm == buffer_;
    }
    [[nodiscard]] bool touches(const ir::Stmt& s) const {
        return stores(s) || own_reads(s) || touched(s.body) || touched(s.otherwise);
    }
    [[nodiscard]] bool touched(ir::BlockId block) const {
        if (block == ir::kNone) return false;
        return std::ranges::any_of(code_.blocks[block],
                                   [&](ir::StmtId s) { return touches(code_.stmts[s]); });
    }

    // Whether no access in `block` reads an element of the array before it is written. True if the
    // only access is a store, or if one block (`block` or one inside it) contains all accesses, and
    // the first one stores every element and is followed by a barrier. (The whole workgroup runs a
    // block that contains a barrier.)
    [[nodiscard]] bool written_first(ir::BlockId block) const {
        const ir::Stmt* first = nullptr;
        bool waited = false;
        for (const ir::StmtId id : code_.blocks[block]) {
            const ir::Stmt& s = code_.stmts[id];
            if (s.op == Op::BARRIER && first != nullptr) waited = true;
            if (!touches(s)) continue;
            if (first != nullptr) {
                if (waited) return covers(*first);
                return false;
            }
            first = &s;
        }
        if (first == nullptr) return true;
        if (stores(*first)) return !own_reads(*first);  // true if the array is never read
        const bool inner = first->op == Op::FOR || first->op == Op::WHILE || first->op == Op::IF;
        if (!inner || own_reads(*first) || touched(first->otherwise)) return false;
        return written_first(first->body);
    }

    [[nodiscard]] bool covers(const ir::Stmt& s) const {
        if (!stores(s) || own_reads(s)) return false;
        const auto elements = image(s.args[0]);
        return elements && everything(*elements);
    }

    [[nodiscard]] bool everything(const Image& elements) const {
        std::vector<bool> seen(count());
        for (const std::uint32_t e : elements)
            if (e < seen.size()) seen[e] = true;
        return std::ranges::count(seen, false) == 0;
    }
    [[nodiscard]] std::size_t invocations() const {
        return std::size_t{workgroup_[0]} * workgroup_[1] * workgroup_[2];
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(program_.buffers[buffer_].count);
    }

    // ---- own elements ----

    // Returns the element that each invocation owns, or nothing. Invocations own elements if, up to
    // the first top-level barrier of main, each access is a store of an invocation to its own
    // element, and if all later reads are of owned elements.
    [[nodiscard]] std::optional<Image> own_elements() const {
        std::optional<Image> own;
        bool fits = true;
        const auto before = [&](const ir::Stmt& s) {
            fits = fits && !own_reads(s);
            if (!fits || !stores(s)) return;
            auto elements = image(s.args[0]);
            fits = elements && (!own || *own == *elements);
            if (fits) own = std::move(elements);
        };
        const auto& main = code_.blocks[code_.root];
        std::size_t n = 0;
        for (; n < main.size() && code_.stmts[main[n]].op != Op::BARRIER; ++n) {
            const ir::Stmt& s = code_.stmts[main[n]];
            before(s);
            ir::detail::each_statement(code_, s.body, before);
            ir::detail::each_statement(code_, s.otherwise, before);
        }
        if (!fits || !own || !injective(*own)) return std::nullopt;
        if (!everything(*own) && !reads_within(*own)) return std::nullopt;
        return own;
    }

    [[nodiscard]] bool injective(Image elements) const {
        std::ranges::sort(elements);
        return elements.back() < count() && std::ranges::adjacent_find(elements) == elements.end();
    }

    [[nodiscard]] bool reads_within(const Image& own) const {
        std::vector<bool> cleared(count());
        for (const std::uint32_t e : own) cleared[e] = true;
        for (const auto& function : reads_)
            if (function[buffer_]) return false;
        return std::ranges::all_of(code_.exprs, [&](const ir::Expr& e) {
            if (!reads(e)) return true;
            const auto elements = image(code_.operands_of(e)[0]);
            return elements && std::ranges::all_of(*elements, [&](std::uint32_t at) {
                       return at < cleared.size() && cleared[at];
                   });
        });
    }

    // Whether the elements are first + dot(factors, local_id). Sets these members of `out`.
    [[nodiscard]] bool linear(const Image& elements, SharedStart& out) const {
        out.first = elements[0];
        const std::uint32_t step[3] = {1, workgroup_[0], workgroup_[0] * workgroup_[1]};
        for (unsigned k = 0; k < 3; ++k)
            out.factors[k] = workgroup_[k] > 1 ? elements[step[k]] - out.first : 0;
        for (std::uint32_t n = 0; n < elements.size(); ++n) {
            const std::uint32_t id[3] = {n % workgroup_[0], n / step[1] % workgroup_[1],
                                         n / step[2]};
            std::uint32_t sum = out.first;
            for (unsigned k = 0; k < 3; ++k) sum += out.factors[k] * id[k];
            if (sum != elements[n]) return false;
        }
        return true;
    }

    const ir::Program& program_;
    const ir::Code& code_;
    const std::array<std::uint32_t, 3> workgroup_;
    const std::vector<ir::ExprId> lets_;
    const std::vector<std::vector<bool>> reads_;
    std::uint32_t buffer_ = 0;
};

constexpr unsigned kMaxNodes = 64;  // maximum number of nodes of an index
constexpr std::size_t kMaxInvocations = 4096;
// The maximum number of nodes in main. For larger programs the answer is Fill.
constexpr std::size_t kMaxProgram = 1U << 16U;

// Returns the function that computes the u32 operation `op`, or null if it is not supported.
using U = std::uint32_t;
U (*function_of(Op op))(U, U) {
    switch (op) {
        case Op::ADD:
            return [](U a, U b) { return a + b; };
        case Op::SUB:
            return [](U a, U b) { return a - b; };
        case Op::MUL:
            return [](U a, U b) { return a * b; };
        case Op::DIV:
            return [](U a, U b) { return b == 0 ? a : a / b; };
        case Op::REM:
            return [](U a, U b) { return b == 0 ? 0 : a % b; };
        case Op::AND:
            return [](U a, U b) { return a & b; };
        case Op::OR:
            return [](U a, U b) { return a | b; };
        case Op::XOR:
            return [](U a, U b) { return a ^ b; };
        case Op::SHL:
            return [](U a, U b) { return a << (b & 31U); };
        case Op::SHR:
            return [](U a, U b) { return a >> (b & 31U); };
        default:
            return nullptr;
    }
}

Image Starts::local_id(unsigned axis) const {
    Image out;
    out.reserve(invocations());
    for (std::uint32_t z = 0; z < workgroup_[2]; ++z)
        for (std::uint32_t y = 0; y < workgroup_[1]; ++y)
            for (std::uint32_t x = 0; x < workgroup_[0]; ++x)
                out.push_back(axis == 0 ? x : axis == 1 ? y : z);
    return out;
}

// Returns the value that an expression has in each invocation. Returns nothing for an expression
// that is not made of literals and the local id alone.
std::optional<Image> Starts::image(ir::ExprId id, unsigned& budget) const {
    const ir::Expr& e = ir::detail::resolve(code_, lets_, id);
    if (e.type != ir::kU32 || budget == 0) return std::nullopt;
    --budget;
    if (e.op == Op::LITERAL) return Image(invocations(), static_cast<std::uint32_t>(e.extra));
    if (e.op == Op::BUILTIN && e.imm == WYE_BUILTIN_LOCAL_INDEX) {
        Image out(invocations());
        std::iota(out.begin(), out.end(), 0U);
        return out;
    }
    const auto ids = code_.operands_of(e);
    if (e.op == Op::COMPONENT) {
        const ir::Expr& vector = ir::detail::resolve(code_, lets_, ids[0]);
        if (vector.op != Op::BUILTIN) return std::nullopt;
        if (vector.imm == WYE_BUILTIN_LOCAL_ID) return local_id(e.imm);
        if (vector.imm == WYE_BUILTIN_WORKGROUP_SIZE)
            return Image(invocations(), workgroup_[e.imm]);
        return std::nullopt;
    }
    const auto function = function_of(e.op);
    if (function == nullptr) return std::nullopt;
    auto a = image(ids[0], budget);
    const auto b = a ? image(ids[1], budget) : std::nullopt;
    if (!b) return std::nullopt;
    std::ranges::transform(*a, *b, a->begin(), function);
    return a;
}

std::optional<Image> Starts::image(ir::ExprId id) const {
    if (invocations() == 0 || invocations() > kMaxInvocations) return std::nullopt;
    unsigned budget = kMaxNodes;
    return image(id, budget);
}

}  // namespace

std::vector<SharedStart> shared_starts(const ir::Program& program,
                                       std::array<std::uint32_t, 3> workgroup) {
    std::vector<SharedStart> out(program.buffers.size());
    for (std::uint32_t b = 0; b < out.size(); ++b)
        if (program.buffers[b].unset) out[b].how = How::Nothing;
    for (const ir::Stmt& s : program.main.stmts)
        if (s.op == Op::GRID_BARRIER) return out;  // each phase starts with zeroed arrays
    if (program.main.exprs.size() > kMaxProgram) return out;
    const ir::ZeroFill known = ir::zero_fill(program);
    Starts starts(program, workgroup);
    for (std::uint32_t b = 0; b < out.size(); ++b) {
        if (!program.buffers[b].shared() || out[b].how == How::Nothing) continue;
        if (known.shared_skippable[b])
            out[b].how = How::Nothing;
        else
            out[b] = starts.start(b);
    }
    return out;
}

}  // namespace wye::lower
