// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/bounds.hpp"

#include <algorithm>

namespace wye::lower {

using From = Bound::From;

std::uint32_t Bounds::add(const Bound& bound) {
    const Key key{bound.from,  bound.op, bound.kind, bound.source,    bound.strict,
                  bound.index, bound.a,  bound.b,    bound.fixed.low, bound.fixed.high};
    const auto [at, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(bounds_.size()));
    if (fresh) {
        for (unsigned k = 0; k < kSamples; ++k) samples_[k].push_back(sample(bound, k));
        bounds_.push_back(bound);
    }
    return at->second;
}

Interval Bounds::sample(const Bound& bound, unsigned which) const {
    switch (bound.from) {
        case From::Fixed:
            return bound.fixed;
        case From::Param:
            return {kParams[which], kParams[which]};
        case From::Groups:
            return {4, 4};
        case From::GroupId:
            return {0, 3};
        case From::GlobalId:
            return {0, 255};
        case From::Length:
        case From::Length64:
            return {kLengths[which], kLengths[which]};
        default:
            return evaluate(bound, {}, samples_[which][bound.a], samples_[which][bound.b]);
    }
}

std::uint32_t Bounds::fixed(ir::Kind kind, Interval interval) {
    Bound bound;
    bound.kind = kind;
    bound.fixed = interval;
    return add(bound);
}

std::uint32_t Bounds::leaf(From from, ir::Kind kind, std::uint32_t index) {
    Bound bound;
    bound.from = from;
    bound.kind = kind;
    bound.index = index;
    return add(bound);
}

std::uint32_t Bounds::unary(ir::Op op, ir::Kind kind, std::uint32_t a) {
    Bound bound;
    bound.from = From::Unary;
    bound.op = op;
    bound.kind = kind;
    bound.a = a;
    return add(bound);
}

std::uint32_t Bounds::binary(ir::Op op, ir::Kind kind, std::uint32_t a, std::uint32_t b) {
    Bound bound;
    bound.from = From::Binary;
    bound.op = op;
    bound.kind = kind;
    bound.a = a;
    bound.b = b;
    return add(bound);
}

std::uint32_t Bounds::converted(ir::Kind from, ir::Kind to, std::uint32_t a) {
    Bound bound;
    bound.from = From::Convert;
    bound.source = from;
    bound.kind = to;
    bound.a = a;
    return add(bound);
}

std::uint32_t Bounds::joined(std::uint32_t a, std::uint32_t b, ir::Kind kind) {
    return a == b ? a : related(From::Join, a, b, false, kind);
}

std::uint32_t Bounds::related(From from, std::uint32_t a, std::uint32_t b, bool strict,
                              ir::Kind kind) {
    Bound bound;
    bound.from = from;
    bound.kind = kind;
    bound.strict = strict;
    bound.a = a;
    bound.b = b;
    return add(bound);
}

std::uint32_t Bounds::within(std::uint32_t a, Interval interval, ir::Kind kind) {
    const Interval all = whole(kind);
    if (interval.high < all.high)
        a = related(From::Below, a, fixed(kind, {interval.high, interval.high}), false, kind);
    if (interval.low > all.low)
        a = related(From::Above, a, fixed(kind, {interval.low, interval.low}), false, kind);
    return a;
}

bool Bounds::ask(std::uint32_t index, std::uint32_t length) {
    bool possible = false;
    for (const auto& sample : samples_)
        possible = possible || (sample[index].low >= 0 && sample[index].high < sample[length].low);
    if (!possible) return false;
    const Preconditions::Access access{index, length};
    if (std::ranges::count(asked_, access) != 0) return true;
    if (asked_.size() >= kMostAsked) return false;
    asked_.push_back(access);
    return true;
}

Preconditions Bounds::result() const {
    std::vector<bool> used(bounds_.size());
    for (const auto& access : asked_) used[access.index] = used[access.length] = true;
    for (std::size_t n = bounds_.size(); n-- > 0;)
        if (used[n] && bounds_[n].from >= From::Unary)
            used[bounds_[n].a] = used[bounds_[n].b] = true;
    Preconditions out;
    std::vector<std::uint32_t> moved(bounds_.size());
    for (std::size_t n = 0; n < bounds_.size(); ++n) {
        if (!used[n]) continue;
        moved[n] = static_cast<std::uint32_t>(out.bounds.size());
        Bound bound = bounds_[n];
        if (bound.from >= From::Unary) {
            bound.a = moved[bound.a];
            bound.b = moved[bound.b];
        }
        out.bounds.push_back(bound);
    }
    if (out.bounds.size() > Preconditions::kMaxBounds) return {};
    for (const auto& access : asked_)
        out.accesses.push_back({moved[access.index], moved[access.length]});
    return out;
}

}  // namespace wye::lower
