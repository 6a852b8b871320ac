// SPDX-License-Identifier: Apache-2.0
//
// Workarounds for drivers that compile a right program wrongly, or without end. Each is an entry
// of one table; the writers ask for it by name and know no driver. Values; immutable; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wye::lower {

enum class Quirk : std::uint8_t {
    LlvmMaskedAffineIndex,
    MesaUnrollTableLoop,
    PtxasHalfOfAChoice,
    MesaOneBesideZero,
};

// What is known of a workaround, for people and for the choice.
struct QuirkEntry {
    Quirk id;
    std::string_view name;        // "mesa-unroll-table-loop"
    std::string_view seen_on;     // drivers and versions
    std::string_view fault;       // what the driver does
    std::string_view workaround;  // what is written instead
    std::string_view cost;        // measured
    std::string_view regression;  // a file in tests/differential/regressions
    std::string_view format;      // of the artifacts that can need it
    bool cpu_only;                // only devices that run a workgroup as a loop can need it
};

// By id.
[[nodiscard]] std::span<const QuirkEntry> quirk_entries();

class QuirkSet {
  public:
    constexpr QuirkSet() = default;
    [[nodiscard]] static constexpr QuirkSet none() { return {}; }
    // The cautious choice: for a device of which nothing is known.
    [[nodiscard]] static constexpr QuirkSet all() {
        QuirkSet out;
        out.bits_ = ~std::uint32_t{0};
        return out;
    }
    [[nodiscard]] constexpr bool has(Quirk quirk) const {
        return (bits_ >> static_cast<unsigned>(quirk) & 1U) != 0;
    }
    constexpr void set(Quirk quirk, bool on) {
        const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(quirk);
        bits_ = on ? bits_ | bit : bits_ & ~bit;
    }
    // Those of the table that an artifact of this format can need; `cpu`: for a device that runs a
    // workgroup as a loop over its invocations.
    [[nodiscard]] QuirkSet narrowed(std::string_view format, bool cpu) const;

    friend constexpr bool operator==(QuirkSet, QuirkSet) = default;

  private:
    std::uint32_t bits_ = 0;
};

}  // namespace wye::lower
