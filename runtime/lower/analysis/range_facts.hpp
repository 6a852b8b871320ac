// SPDX-License-Identifier: Apache-2.0
//
// RangeFacts: numbers the values of a function, and keeps facts about them that hold at the current
// place of the program. Expressions with the same number have the same value. Facts are scoped:
// mark() before a block, release() after it. Used by one thread for one function.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "lower/analysis/bounds.hpp"
#include "lower/analysis/interval.hpp"

namespace wye::lower {

using Value = std::uint32_t;
inline constexpr Value kNoValue = 0xffffffffU;

struct ValueNode {
    ir::Op op = ir::Op::None;  // None: an opaque value
    ir::Kind kind = ir::Kind::None;
    // By `op`: the bits of a literal, a built-in and its component, a parameter, or a class of
    // lengths.
    std::uint64_t detail = 0;
    std::array<Value, 3> operands = {kNoValue, kNoValue, kNoValue};
    Interval base;                   // the interval that holds at every place
    std::uint32_t bound = kNoBound;  // the step that computes its interval in a launch, if made
};

class RangeFacts {
  public:
    Value opaque(ir::Kind kind, Interval interval);
    // Makes a new value, even if another value has the same operation and operands.
    Value single(const ValueNode& node);
    // Returns the number of an operation, which is the same for equal operations on equal values.
    Value number(const ValueNode& node);
    [[nodiscard]] const ValueNode& node(Value value) const { return nodes_[value]; }

    [[nodiscard]] std::size_t mark() const { return facts_.size(); }
    void release(std::size_t mark);
    void less(Value a, Value b, bool strict);  // states a < b, or a <= b
    void within(Value a, Interval interval);
    void apart(Value a, Value b);  // states a != b

    [[nodiscard]] Interval interval(Value value) const { return interval(value, kDepth); }
    // Whether `value` < `bound` (or <=) is certain, compared as integers.
    [[nodiscard]] bool certainly_less(Value value, Value bound, bool strict) const {
        unsigned budget = kBudget;
        return reaches(value, bound, strict, kDepth, budget);
    }

    // Adds the steps by which a launch computes the interval of a value, using the facts at this
    // place, and returns the last step.
    std::uint32_t bound(Value value, Bounds& out) const;

  private:
    // Limits on the work for one question, so that no program makes the analysis slow.
    static constexpr unsigned kDepth = 4;
    static constexpr unsigned kBudget = 64;
    static constexpr unsigned kFactsPerValue = 16;
    static constexpr std::uint32_t kNoFact = 0xffffffffU;

    static constexpr unsigned kBoundDepth = 12;
    static constexpr std::size_t kMaxMade = 128;

    enum class Relation : std::uint8_t { Below, Above, Apart, Within };
    struct Fact {
        Value a;
        Value b = kNoValue;  // unused for Within
        Relation relation = Relation::Below;
        bool strict = false;
        Interval interval;
        std::uint32_t previous = kNoFact;  // the next older fact about `a`
    };
    void add(Fact fact);

    [[nodiscard]] Interval interval(Value value, unsigned depth) const;
    [[nodiscard]] bool reaches(Value value, Value bound, bool strict, unsigned depth,
                               unsigned& budget) const;
    [[nodiscard]] bool structure_reaches(const ValueNode& n, Value bound, bool strict,
                                         unsigned depth, unsigned& budget) const;

    using Made = std::map<Value, std::uint32_t>;
    std::uint32_t bound(Value value, Bounds& out, Made& made, unsigned depth) const;
    std::uint32_t structure_bound(Value value, Bounds& out, Made& made, unsigned depth) const;

    using Key = std::tuple<ir::Op, ir::Kind, std::uint64_t, std::array<Value, 3>>;
    std::vector<ValueNode> nodes_;
    std::vector<std::uint32_t> newest_;  // the newest fact about each value
    std::map<Key, Value> numbers_;
    std::vector<Fact> facts_;
};

}  // namespace wye::lower
