// SPDX-License-Identifier: Apache-2.0
//
// The passes over declarations, the launch and its data.
#include <algorithm>

#include "differential/shrinker.hpp"

namespace differential {

using namespace wye::ir;

namespace {

// The smaller values to try: `least`, then an eighth and a half of `value`, then one less.
std::vector<std::uint64_t> smaller(std::uint64_t value, std::uint64_t least) {
    std::vector<std::uint64_t> out;
    if (value <= least) return out;
    out.push_back(least);
    for (const std::uint64_t v : {value / 8, value / 2, value - 1})
        if (v > least && v != out.back()) out.push_back(v);
    return out;
}

support::Binding* binding(State& state, const std::string& name) {
    for (support::Binding& b : state.what.launch.buffers)
        if (b.name == name) return &b;
    return nullptr;
}

// If the grid clause has only numbers, removes the clause and puts the numbers into the launch.
bool grid_to_launch(State& state) {
    Program& program = state.program;
    if (state.what.launch.groups || program.grid.kind == WYE_GRID_NONE) return false;
    std::array<std::uint32_t, 3> groups = {1, 1, 1};
    for (std::size_t axis = 0; axis < program.grid.axes.size(); ++axis) {
        const SizeExpr& size = program.grid.axes[axis];
        if (size.size() != 1 || size[0].op != WYE_SIZE_LITERAL) return false;
        const std::uint64_t part =
            program.grid.kind == WYE_GRID_ELEMENTS ? program.workgroup[axis] : 1;
        groups[axis] = static_cast<std::uint32_t>((size[0].literal + part - 1) / part);
    }
    state.what.launch.groups = groups;
    program.grid = {};
    return true;
}

bool uses_subgroups(Program& program) {
    for (const Code* code : codes(program))
        for (const Expr& e : code->exprs)
            if (op_subgroup(e.op) || (e.op == Op::BUILTIN && e.imm >= WYE_BUILTIN_SUBGROUP_SIZE))
                return true;
    return false;
}

}  // namespace

bool Shrinker::declarations() {
    bool any = false;
    for (std::size_t i = now_.program.functions.size(); i-- > 0;)
        any |= attempt([&](State& s) { return drop_function(s.program, i); });
    for (std::size_t i = now_.program.buffers.size(); i-- > 0;)
        any |= attempt([&](State& s) {
            const std::string name = s.program.buffers[i].name;
            if (!drop_buffer(s.program, i)) return false;
            std::erase_if(s.what.launch.buffers, [&](const auto& b) { return b.name == name; });
            return true;
        });
    for (std::size_t i = now_.program.tables.size(); i-- > 0;)
        any |= attempt([&](State& s) { return drop_table(s.program, i); });
    for (std::size_t i = now_.program.params.size(); i-- > 0;)
        any |= attempt([&](State& s) {
            auto& values = s.what.launch.params;
            if (!drop_param(s.program, i) || i >= values.size()) return false;
            values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        });
    return any;
}

bool Shrinker::launch() {
    bool any = attempt(grid_to_launch);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto groups = [&] {
            return now_.what.launch.groups ? (*now_.what.launch.groups)[axis] : 1U;
        };
        const auto fewer = [&](std::uint64_t n) {
            return attempt([&](State& s) {
                (*s.what.launch.groups)[axis] = static_cast<std::uint32_t>(n);
                return true;
            });
        };
        const auto narrower = [&](std::uint64_t n) {
            return attempt([&](State& s) {
                s.program.workgroup[axis] = static_cast<std::uint32_t>(n);
                return true;
            });
        };
        if (now_.what.launch.groups)
            while (std::ranges::any_of(smaller(groups(), 1), fewer)) any = true;
        while (std::ranges::any_of(smaller(now_.program.workgroup[axis], 1), narrower)) any = true;
    }
    if (now_.program.subgroup != 0 && !uses_subgroups(now_.program))
        any |= attempt([](State& s) {
            s.program.subgroup = 0;
            return true;
        });
    if (now_.what.resident)
        any |= attempt([](State& s) {
            s.what.resident = false;
            return true;
        });
    return any;
}

// Shortens a buffer, and declares its element count as a number.
bool Shrinker::shorten(std::size_t index, std::size_t elements) {
    return attempt([&](State& s) {
        Buffer& b = s.program.buffers[index];
        const bool same = b.count_kind == Buffer::Count::Literal && b.count == elements;
        if (same || (elements == 0 && b.count_kind != Buffer::Count::Runtime)) return false;
        if (b.count_kind != Buffer::Count::Runtime) {
            b.count_kind = Buffer::Count::Literal;
            b.count = elements;
            b.size.clear();
        }
        if (support::Binding* bound = binding(s, b.name))
            bound->bytes.resize(elements * b.type.bytes());
        return true;
    });
}

bool Shrinker::sizes() {
    bool any = false;
    for (std::size_t i = now_.program.buffers.size(); i-- > 0;) {
        const auto count = [&]() -> std::uint64_t {
            const Buffer& b = now_.program.buffers[i];
            if (const support::Binding* bound = binding(now_, b.name))
                return bound->bytes.size() / b.type.bytes();
            return b.count;
        };
        if (now_.program.buffers[i].count_kind == Buffer::Count::Computed)
            any |= shorten(i, count());
        const auto fewer = [&](std::uint64_t n) { return shorten(i, n); };
        while (std::ranges::any_of(smaller(count(), 0), fewer)) any = true;
    }
    for (std::size_t c = code_count(now_.program); c-- > 0;)
        for (std::size_t at = 0; at < code(c).stmts.size(); ++at) {
            const auto count = [&] {
                const Stmt& s = code(c).stmts[at];
                return s.op == Op::VAR_ARRAY ? code(c).locals[s.local].count : 0;
            };
            const auto fewer = [&](std::uint64_t n) {
                return attempt([&](State& s) {
                    Code& into = *codes(s.program)[c];
                    into.locals[into.stmts[at].local].count = static_cast<std::uint32_t>(n);
                    return true;
                });
            };
            while (std::ranges::any_of(smaller(count(), 1), fewer)) any = true;
        }
    for (std::size_t i = 0; i < now_.program.tables.size(); ++i) {
        const auto fewer = [&](std::uint64_t n) {
            return attempt([&](State& s) {
                s.program.tables[i].bits.resize(n);
                return true;
            });
        };
        while (std::ranges::any_of(smaller(now_.program.tables[i].bits.size(), 1), fewer))
            any = true;
    }
    return any;
}

// Replaces data by zeros if the fault remains: parameters, whole buffers, then halves of them and
// so on down to one byte.
bool Shrinker::data() {
    bool any = false;
    for (std::size_t i = 0; i < now_.what.launch.params.size(); ++i)
        for (const std::uint64_t bits : {0, 1})
            any |= attempt([&](State& s) {
                std::uint64_t& value = s.what.launch.params[i];
                if (value <= bits) return false;
                value = bits;
                return true;
            });
    for (std::size_t i = 0; i < now_.what.launch.buffers.size(); ++i) {
        const std::size_t bytes = now_.what.launch.buffers[i].bytes.size();
        if (!now_.what.launch.buffers[i].input) continue;
        for (std::size_t run = bytes; run > 0; run /= 2)
            for (std::size_t at = 0; at < bytes && !ended(); at += run)
                any |= attempt([&](State& s) {
                    auto& data = s.what.launch.buffers[i].bytes;
                    const auto first = data.begin() + static_cast<std::ptrdiff_t>(at);
                    const auto last =
                        data.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, at + run));
                    if (std::all_of(first, last, [](std::byte b) { return b == std::byte{0}; }))
                        return false;
                    std::fill(first, last, std::byte{0});
                    return true;
                });
    }
    return any;
}

}  // namespace differential
