// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/interval.hpp"

#include <algorithm>
#include <bit>

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// Returns the exact result if it fits the kind; a result that may wrap becomes "anything".
Interval checked(Kind kind, bool overflow, Interval r) {
    const Interval all = whole(kind);
    return overflow || !all.contains(r) ? all : r;
}

// Whether the interval has no upper bound.
bool open(Kind kind, Interval a) { return kind == Kind::U64 && a.high == Interval::kMost; }

Interval product(Kind kind, Interval a, Interval b) {
    const std::int64_t left[] = {a.low, a.low, a.high, a.high};
    const std::int64_t right[] = {b.low, b.high, b.low, b.high};
    Interval r{Interval::kMost, Interval::kLeast};
    for (int i = 0; i < 4; ++i) {
        std::int64_t p = 0;
        if (__builtin_mul_overflow(left[i], right[i], &p)) return whole(kind);
        r = {std::min(r.low, p), std::max(r.high, p)};
    }
    return checked(kind, false, r);
}

// Returns a mask of ones up to the highest bit of `value`.
std::int64_t ones(std::int64_t value) {
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(value)));
    return bits >= 63 ? Interval::kMost : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
}

unsigned width(Kind kind) { return ir::Type{kind, 1}.bits(); }

Interval shifted(Op op, Kind kind, Interval a, Interval b) {
    const std::int64_t last = width(kind) - 1;
    if (a.low < 0) return whole(kind);
    if (b.exact()) b = {b.low & last, b.low & last};  // the count is taken modulo the width
    if (b.low < 0 || b.high > last) b = {0, last};
    const auto least = static_cast<unsigned>(b.low);
    const auto most = static_cast<unsigned>(b.high);
    if (op == Op::SHL) {
        if (open(kind, a) || most > 62 || a.high > (Interval::kMost >> most)) return whole(kind);
        return checked(kind, false, {a.low << least, a.high << most});
    }
    if (!open(kind, a)) return {a.low >> most, a.high >> least};
    if (least == 0) return {a.low >> most, a.high};
    return {a.low >> most, static_cast<std::int64_t>(~std::uint64_t{0} >> least)};
}

}  // namespace

Interval whole(Kind kind) {
    switch (kind) {
        case Kind::BOOL:
            return {0, 1};
        case Kind::I32:
            return {-(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1};
        case Kind::U32:
            return {0, (std::int64_t{1} << 32) - 1};
        case Kind::U64:
            return {0, Interval::kMost};
        case Kind::I8:
            return {-128, 127};
        case Kind::U8:
            return {0, 255};
        case Kind::I16:
            return {-32768, 32767};
        case Kind::U16:
            return {0, 65535};
        default:
            return {};
    }
}

Interval join(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval meet(Interval a, Interval b) {
    const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
    return both.low <= both.high ? both : a;
}

Interval unary(Op op, Kind kind, Interval a) {
    const std::int64_t bits = width(kind);
    switch (op) {
        case Op::POPCOUNT:
        case Op::CLZ:
        case Op::CTZ:
            return {0, bits};
        case Op::ABS:
            if (a.low >= 0) return a;
            return a.low == whole(kind).low ? whole(kind) : Interval{0, std::max(-a.low, a.high)};
        case Op::NEG:
            return a.low == Interval::kLeast ? whole(kind)
                                             : checked(kind, false, {-a.high, -a.low});
        default:
            return whole(kind);
    }
}

Interval binary(Op op, Kind kind, Interval a, Interval b) {
    const Interval all = whole(kind);
    const bool unbounded = open(kind, a) || open(kind, b);
    Interval r;
    switch (op) {
        case Op::ADD: {
            const bool overflow = __builtin_add_overflow(a.low, b.low, &r.low) ||
                                  __builtin_add_overflow(a.high, b.high, &r.high);
            return checked(kind, overflow || unbounded, r);
        }
        case Op::SUB: {
            const bool overflow = __builtin_sub_overflow(a.low, b.high, &r.low) ||
                                  __builtin_sub_overflow(a.high, b.low, &r.high);
            return checked(kind, overflow || unbounded, r);
        }
        case Op::MUL:
            return unbounded ? all : product(kind, a, b);
        case Op::DIV:
            if (a.low < 0 || b.low < 1 || unbounded) return all;
            return {a.low / b.high, a.high / b.low};
        case Op::REM:
            if (a.low < 0 || b.low < 0) return all;
            if (open(kind, b)) return {0, a.high};
            return {0, std::min(a.high, std::max<std::int64_t>(b.high - 1, 0))};
        case Op::AND:
            if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
            if (a.low >= 0) return {0, a.high};
            if (b.low >= 0) return {0, b.high};
            return all;
        case Op::OR:
        case Op::XOR:
            if (a.low < 0 || b.low < 0 || unbounded) return all;
            return {op == Op::OR ? std::max(a.low, b.low) : 0, ones(std::max(a.high, b.high))};
        case Op::SHL:
        case Op::SHR:
            return shifted(op, kind, a, b);
        case Op::MIN:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        case Op::MAX:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        default:
            return all;
    }
}

Interval converted(Kind from, Kind to, Interval a) {
    const ir::Type source{from, 1};
    if (!source.integer() && !source.boolean()) return whole(to);
    if (from == Kind::U64 && a.high == Interval::kMost && to != Kind::U64) return whole(to);
    return whole(to).contains(a) ? a : whole(to);
}

Interval literal_interval(Kind kind, std::uint64_t bits) {
    switch (kind) {
        case Kind::BOOL:
        case Kind::U32:
            return {static_cast<std::int64_t>(bits), static_cast<std::int64_t>(bits)};
        case Kind::I32: {
            const auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(bits));
            return {value, value};
        }
        case Kind::I64:
            return {static_cast<std::int64_t>(bits), static_cast<std::int64_t>(bits)};
        case Kind::U64:
            if (bits >= static_cast<std::uint64_t>(Interval::kMost)) return whole(kind);
            return {static_cast<std::int64_t>(bits), static_cast<std::int64_t>(bits)};
        default:
            return {};
    }
}

}  // namespace wye::lower
