// SPDX-License-Identifier: Apache-2.0
//
// Evaluator: computes integer and bool expressions on the host before a launch, with the language's
// arithmetic. The expressions may depend only on parameters, lengths, workgroup counts, tables and
// literals. Borrows the plan and the launch. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/launch.hpp"

namespace wye::plan {

class Evaluator {
  public:
    // The bits of each component, zero-extended.
    using Value = std::array<std::uint64_t, 4>;

    Evaluator(const ProgramPlan& plan, const Launch& launch);

    // Returns the value of an expression, or nothing if only the device can compute it. Locals have
    // the values given by `set`.
    [[nodiscard]] std::optional<Value> value(ir::ExprId id) const;
    void set(std::uint32_t local, std::optional<Value> value) { locals_[local] = value; }

  private:
    [[nodiscard]] std::optional<Value> leaf(const ir::Expr& e) const;
    [[nodiscard]] std::optional<Value> built_in(std::uint16_t index) const;
    [[nodiscard]] std::optional<Value> parameter(std::uint16_t index) const;
    [[nodiscard]] std::optional<Value> element(const ir::Expr& e) const;
    [[nodiscard]] std::optional<Value> operation(const ir::Expr& e) const;

    const ProgramPlan& plan_;
    const Launch& launch_;
    const ir::Code& code_;
    std::vector<std::uint64_t> counts_;  // by buffer index
    std::vector<std::optional<Value>> locals_;
};

}  // namespace wye::plan
