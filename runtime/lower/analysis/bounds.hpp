// SPDX-License-Identifier: Apache-2.0
//
// Collects the steps of preconditions, each distinct step once. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "lower/analysis/preconditions.hpp"

namespace wye::lower {

inline constexpr std::uint32_t kNoBound = 0xffffffffU;

class Bounds {
  public:
    std::uint32_t fixed(ir::Kind kind, Interval interval);
    std::uint32_t leaf(Bound::From from, ir::Kind kind, std::uint32_t index);
    std::uint32_t unary(ir::Op op, ir::Kind kind, std::uint32_t a);
    std::uint32_t binary(ir::Op op, ir::Kind kind, std::uint32_t a, std::uint32_t b);
    std::uint32_t converted(ir::Kind from, ir::Kind to, std::uint32_t a);
    std::uint32_t joined(std::uint32_t a, std::uint32_t b, ir::Kind kind);
    std::uint32_t related(Bound::From from, std::uint32_t a, std::uint32_t b, bool strict,
                          ir::Kind kind);
    std::uint32_t within(std::uint32_t a, Interval interval, ir::Kind kind);

    [[nodiscard]] const Bound& at(std::uint32_t bound) const { return bounds_[bound]; }
    // Whether the limit on steps is reached. Further values are then represented only by their
    // interval.
    [[nodiscard]] bool full() const { return bounds_.size() > kMost || spent_ > kMostSpent; }
    void spend() { ++spent_; }

    // Adds the precondition `index` < `length`. Returns false, and adds nothing, if no sample
    // launch satisfies it or if there are too many preconditions.
    bool ask(std::uint32_t index, std::uint32_t length);
    // Returns all preconditions with their steps, or none if there are too many steps.
    [[nodiscard]] Preconditions result() const;
    using Asked = std::vector<Preconditions::Access>;
    [[nodiscard]] const Asked& asked() const { return asked_; }
    void set_asked(Asked asked) { asked_ = std::move(asked); }

  private:
    static constexpr std::size_t kMost = 4096;
    static constexpr std::size_t kMostAsked = 64;
    static constexpr std::size_t kMostSpent = 1U << 16U;
    // Sample launches, all with a small grid and small parameters: a precondition that none of them
    // satisfies is discarded. The last has short buffers, for loops whose counter would overflow at
    // the end of a long buffer.
    static constexpr unsigned kSamples = 3;
    static constexpr std::int64_t kParams[kSamples] = {1, 1000, 1000};
    static constexpr std::int64_t kLengths[kSamples] = {0xfffffffe, 0xfffffffe, 1000};
    std::uint32_t add(const Bound& bound);
    [[nodiscard]] Interval sample(const Bound& bound, unsigned which) const;

    using Key = std::tuple<Bound::From, ir::Op, ir::Kind, ir::Kind, bool, std::uint32_t,
                           std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;
    std::vector<Bound> bounds_;
    std::vector<Interval> samples_[kSamples];
    std::map<Key, std::uint32_t> numbers_;
    Asked asked_;
    std::size_t spent_ = 0;
};

}  // namespace wye::lower
