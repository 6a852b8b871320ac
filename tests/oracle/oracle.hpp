// SPDX-License-Identifier: Apache-2.0
//
// The scalar oracle: evaluates a program from its wire form, one invocation at a time, and gives
// the result that the language defines. It is simple rather than fast, and independent: it shares
// no code with the runtime, the sdk or any plugin (only the constants of wye/program_format.h), so
// that no common fault can make results equal.
//
// Invocations of a workgroup run one after another from one barrier (or subgroup operation) to the
// next; workgroups run one after another from one grid barrier to the next. Pure; thread-safe; does
// not throw. Needs the host's default rounding mode.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oracle {

struct Launch {
    // The grid: `groups` workgroups; if unset, `elements` elements along x; if both are unset, the
    // program's grid clause.
    std::optional<std::array<std::uint32_t, 3>> groups;
    std::optional<std::uint64_t> elements;
    // The bits of each parameter, zero-extended.
    std::vector<std::uint64_t> params;
    // In binding order, without `shared`. An `output` may be empty if its count follows from the
    // program (or from `elements`); other sizes must fit. Outputs are cleared first.
    std::vector<std::vector<std::byte>> buffers;
    // Overrides the program's workgroup size, if it allows that.
    std::optional<std::array<std::uint32_t, 3>> workgroup;
    std::uint32_t subgroup_size = 32;                   // if the program does not state it
    std::uint64_t step_limit = std::uint64_t{1} << 36;  // statements and loop iterations
    bool check_races = false;                           // also for atomics whose order is visible
    // The claims of an analysis, in the order of the wire form. Of a load, store or atomic: its
    // index is in range. Of a FOR: its counter does not overflow. Of a SELECT: only the arm that is
    // taken is evaluated. A claim that is false is an error. Empty: no claims.
    std::vector<bool> claims;
};

struct Trap {
    std::uint32_t code = 0;  // the largest code of all traps
    std::uint32_t count = 0;
    friend bool operator==(Trap, Trap) = default;
};

struct Outcome {
    std::string error;  // not empty: refused or not evaluated, and the other members are void
    // Contents after the launch, as in Launch::buffers.
    std::vector<std::vector<std::byte>> buffers;
    Trap trap;
    std::string race;  // the first race found, if Launch::check_races is set
    [[nodiscard]] bool ok() const { return error.empty(); }
};

[[nodiscard]] Outcome run(std::span<const std::byte> wire, const Launch& launch);

}  // namespace oracle
