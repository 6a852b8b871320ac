// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/preconditions.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

using From = Bound::From;
using ir::Kind;

// Whether the interval has no upper bound.
bool open(Interval i) { return i.high == Interval::kMost; }

Interval below_count(std::uint64_t count) {
    return {0, count == 0 ? 0
                          : static_cast<std::int64_t>(std::min<std::uint64_t>(
                                count - 1, static_cast<std::uint64_t>(Interval::kMost)))};
}

Interval exactly(std::uint64_t value) { return literal_interval(Kind::U64, value); }

Interval apart(Interval a, Interval b) {
    if (!b.exact() || a.low >= a.high) return a;
    if (a.low == b.low) ++a.low;
    if (a.high == b.low) --a.high;
    return a;
}

}  // namespace

Interval evaluate(const Bound& bound, const LaunchFacts& launch, Interval a, Interval b) {
    const std::int64_t one = bound.strict ? 1 : 0;
    const std::uint32_t k = bound.index;
    switch (bound.from) {
        case From::Fixed:
            return bound.fixed;
        case From::Param:
            return literal_interval(bound.kind, launch.params[k]);
        case From::Length:
            return exactly(std::min<std::uint64_t>(launch.lengths[k], 0xffffffffU));
        case From::Length64:
            return exactly(launch.lengths[k]);
        case From::Groups:
            return exactly(launch.groups[k]);
        case From::GroupId:
            return below_count(launch.groups[k]);
        case From::GlobalId:
            return below_count(std::uint64_t{launch.groups[k]} * launch.workgroup[k]);
        case From::Unary:
            return unary(bound.op, bound.kind, a);
        case From::Binary:
            return binary(bound.op, bound.kind, a, b);
        case From::Convert:
            return converted(bound.source, bound.kind, a);
        case From::Join:
            return join(a, b);
        case From::Below:
            if (open(b) || b.high == Interval::kLeast) return a;
            return meet(a, {Interval::kLeast, b.high - one});
        case From::Above:
            if (b.low == Interval::kMost) return a;
            return meet(a, {b.low + one, Interval::kMost});
        case From::Apart:
            return apart(a, b);
    }
    return whole(bound.kind);
}

bool Preconditions::read_params() const {
    return std::ranges::any_of(bounds, [](const Bound& b) { return b.from == From::Param; });
}

bool Preconditions::hold(const LaunchFacts& launch) const {
    std::array<Interval, kMaxBounds> values;
    if (bounds.size() > values.size()) return false;
    for (std::size_t n = 0; n < bounds.size(); ++n)
        values[n] = evaluate(bounds[n], launch, values[bounds[n].a], values[bounds[n].b]);
    return std::ranges::all_of(accesses, [&](const Access& access) {
        const Interval index = values[access.index];
        return index.low >= 0 && !open(index) && index.high < values[access.length].low;
    });
}

namespace {

class Printer {
  public:
    Printer(const ir::Program& program, const std::vector<Bound>& bounds)
        : program_(program), bounds_(bounds) {}

    // Prints a value. `tight`: the text becomes an operand, so infix operators need parentheses.
    [[nodiscard]] std::string text(std::uint32_t at, bool tight, unsigned depth = 0) const {
        const Bound& bound = bounds_[at];
        if (depth > kMaxDepth) return "...";
        const auto operand = [&](std::uint32_t n) { return text(n, true, depth + 1); };
        const std::string axis = std::string(".") + "xyz"[bound.index % 3];
        switch (bound.from) {
            case From::Fixed:
                return fixed(bound);
            case From::Param:
                return program_.params[bound.index].name;
            case From::Length:
                return "len(" + program_.buffers[bound.index].name + ")";
            case From::Length64:
                return "len64(" + program_.buffers[bound.index].name + ")";
            case From::Groups:
                return "num_workgroups" + axis;
            case From::GroupId:
                return "workgroup_id" + axis;
            case From::GlobalId:
                return "global_id" + axis;
            case From::Unary:
                return std::string(ir::op_text(bound.op)) + "(" + operand(bound.a) + ")";
            case From::Binary:
                return infix(bound, operand(bound.a), operand(bound.b), tight);
            case From::Convert:
                return operand(bound.a);
            case From::Join:
                return "[" + operand(bound.a) + " or " + operand(bound.b) + "]";
            case From::Below:
                if (idle(bound)) return text(bound.a, tight, depth);
                return "[" + operand(bound.a) + (bound.strict ? " < " : " <= ") + operand(bound.b) +
                       "]";
            case From::Above:
                if (idle(bound)) return text(bound.a, tight, depth);
                return "[" + operand(bound.a) + (bound.strict ? " > " : " >= ") + operand(bound.b) +
                       "]";
            case From::Apart:
                if (idle(bound)) return text(bound.a, tight, depth);
                return "[" + operand(bound.a) + " != " + operand(bound.b) + "]";
        }
        return {};
    }

  private:
    static constexpr unsigned kMaxDepth = 12;

    // Whether the bound is a constant that hardly narrows the value. Such bounds are not printed,
    // for brevity.
    [[nodiscard]] bool idle(const Bound& bound) const {
        const Bound& end = bounds_[bound.b];
        const Interval all = whole(bound.kind);
        if (end.from != From::Fixed) return false;
        if (bound.from == From::Below) return end.fixed.high >= all.high - 1;
        if (bound.from == From::Above) return end.fixed.low <= 1;
        return !end.fixed.exact();
    }
    static std::string fixed(const Bound& bound) {
        const Interval i = bound.fixed;
        if (i.exact()) return std::to_string(i.low);
        if (i == whole(bound.kind)) return "any";
        return std::to_string(i.low) + ".." + std::to_string(i.high);
    }
    static std::string infix(const Bound& bound, const std::string& a, const std::string& b,
                             bool tight) {
        const std::string name(ir::op_text(bound.op));
        if (name.empty() || (name[0] >= 'a' && name[0] <= 'z'))
            return name + "(" + a + ", " + b + ")";
        const std::string both = a + " " + name + " " + b;
        return tight ? "(" + both + ")" : both;
    }

    const ir::Program& program_;
    const std::vector<Bound>& bounds_;
};

}  // namespace

std::string Preconditions::text(const ir::Program& program) const {
    const Printer printer(program, bounds);
    std::string out;
    for (const Access& access : accesses)
        out += printer.text(access.index, false) + " < " + printer.text(access.length, true) + "\n";
    return out;
}

}  // namespace wye::lower
