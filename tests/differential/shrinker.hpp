// SPDX-License-Identifier: Apache-2.0
//
// Shrinker: the state of a search for a smaller case, and the passes of the search. To be used by
// one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_set>

#include "differential/edit.hpp"
#include "differential/shrink.hpp"

namespace differential {

struct State {
    wye::ir::Program program;  // as the parser returns it
    Case what;                 // its text is `program` as printed
};

class Shrinker {
  public:
    Shrinker(State first, Finding finding, const Judge& judge, const ShrinkLimits& limits);

    Shrunk run();

  private:
    // Applies `change` to a copy of the state (false: there is nothing to change), and judges the
    // copy. Keeps the copy if it has the same kind of fault.
    using Change = std::function<bool(State&)>;
    bool attempt(const Change& change);
    [[nodiscard]] bool ended() const;

    // The passes. Each returns whether a change was kept.
    bool declarations();
    bool launch();
    bool statements();
    bool structure();
    bool expressions();
    bool inlining();
    bool sizes();
    bool data();

    bool expression(std::size_t code, wye::ir::ExprId id);
    bool hoist(std::size_t code, wye::ir::ExprId id);
    bool shorten(std::size_t buffer, std::size_t elements);

    [[nodiscard]] const wye::ir::Code& code(std::size_t index) const;

    State now_;
    Finding finding_;
    const Judge& judge_;
    ShrinkLimits limits_;
    std::chrono::steady_clock::time_point end_;
    std::uint64_t tries_ = 0;
    std::unordered_set<std::size_t> seen_;  // hashes of the texts that were judged or refused
};

}  // namespace differential
