// SPDX-License-Identifier: Apache-2.0
//
// Quirks: workarounds for drivers that miscompile valid programs or whose compilers do not finish.
// Each quirk is an entry of one table. Writers and passes ask for quirks by name and know no
// drivers. Immutable values; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::lower {

// The quirks, in the order of the table.
enum class Quirk : std::uint8_t {
    // For OpenCL C and CUDA C.
    LlvmMaskedAffineIndex,
    PoclBarriers,
    PoclConstantRounding,
    PoclNanInTable,
    PtxasAbsMin,
    PtxasLostMinus,
    PtxasLostNot,
    PtxasLateShift,
    PtxasHalfOfAChoice,
    PtxasSaturate,
    PtxasEarlyLanes,
    PtxasSpinningAtomic,
    PtxasUnrolledStep,
    NvvmZeroExtremes,
    NvvmPowers,
    NvvmLiteralCompare,
    NvidiaClFusedDivision,
    NvidiaClSpinningAtomic,
    // For SPIR-V.
    MesaLiteralZero,
    MesaOneBesideZero,
    MesaSextCompare,
    MesaUnrollTableLoop,
    LlvmIntegerThroughHalf,
    LlvmpipeEndOfRow,
    LlvmpipeKnownLane,
    LlvmpipeDeepValue,
    LlvmpipeWayOut,
    LlvmpipeWideShift,
    LlvmpipeRoundedZero,
    VkLiteralArithmetic,
    NvidiaVkSignedWords,
    NvidiaVkWideCompare,
    NvidiaVkAbsMin,
    NvidiaVkOverflowByDivision,
    NvidiaVkWideDivision,
    NvidiaVkLiteralDivision,
    NvidiaVkDivisionCall,
    NvidiaVkNarrowOnes,
    NvidiaVkLastComponent,
    NvidiaVkReadBack,
    NvidiaVkContinue,
    NvidiaConstantNarrowing,
};
inline constexpr std::size_t kQuirkCount =
    static_cast<std::size_t>(Quirk::NvidiaConstantNarrowing) + 1;

class QuirkSet {
  public:
    constexpr QuirkSet() = default;
    [[nodiscard]] static constexpr QuirkSet none() { return {}; }
    [[nodiscard]] static constexpr QuirkSet all() {
        return QuirkSet((std::uint64_t{1} << kQuirkCount) - 1);
    }
    // The set for text that is lowered without a device. It has all entries that are chosen by
    // driver, except those for drivers that run a workgroup as a loop and those whose text only
    // particular drivers accept.
    [[nodiscard]] static QuirkSet of_no_device();
    // The cautious set, for an unknown driver. `whole_workgroups`: the driver runs a workgroup as a
    // loop over its invocations.
    [[nodiscard]] static QuirkSet of_unknown_driver(bool whole_workgroups);

    [[nodiscard]] constexpr bool has(Quirk quirk) const { return (bits_ & bit(quirk)) != 0; }
    constexpr void set(Quirk quirk, bool on = true) {
        bits_ = on ? bits_ | bit(quirk) : bits_ & ~bit(quirk);
    }
    [[nodiscard]] constexpr QuirkSet with(QuirkSet more) const {
        return QuirkSet(bits_ | more.bits_);
    }
    [[nodiscard]] constexpr QuirkSet without(QuirkSet less) const {
        return QuirkSet(bits_ & ~less.bits_);
    }
    [[nodiscard]] constexpr bool meets(QuirkSet other) const { return (bits_ & other.bits_) != 0; }
    // Returns the entries in this set that an artifact of the format can need.
    [[nodiscard]] QuirkSet for_format(std::string_view format) const;
    // Returns the names in the order of the table.
    [[nodiscard]] std::vector<std::string_view> names() const;

    friend constexpr bool operator==(QuirkSet, QuirkSet) = default;

  private:
    explicit constexpr QuirkSet(std::uint64_t bits) : bits_(bits) {}
    static constexpr std::uint64_t bit(Quirk quirk) {
        return std::uint64_t{1} << static_cast<unsigned>(quirk);
    }
    std::uint64_t bits_ = 0;
};
static_assert(kQuirkCount < 64);

// Describes a workaround for reports, and says when it is chosen.
struct QuirkEntry {
    Quirk id;
    std::string_view name;        // such as "mesa-unroll-table-loop"
    std::string_view seen_on;     // drivers and versions that have the fault
    std::string_view fault;       // what the driver does
    std::string_view workaround;  // what is written instead
    std::string_view cost;
    std::string_view regression;  // a file in tests/differential/regressions
    std::uint32_t formats;        // formats that can need the workaround: kFormat...
    std::uint32_t drivers;        // drivers that get the workaround: kDriver... (drivers.hpp)
    std::uint32_t first_version;  // range of versions of those drivers: major * 1000 + minor
    std::uint32_t last_version;
    enum class Found : std::uint8_t {
        Driver,   // by the driver's name and version
        SelfTest  // by the plugin's self-test, whatever the driver
    } found;
    bool cautious;          // whether unknown drivers get the workaround too
    bool whole_workgroups;  // whether only drivers that run workgroups as loops get it
    bool own_text = false;  // whether only the drivers in `drivers` accept the text
};

inline constexpr std::uint32_t kFormatOpenClC = 1;
inline constexpr std::uint32_t kFormatCudaC = 2;
inline constexpr std::uint32_t kFormatSpirv = 4;
inline constexpr std::uint32_t kAnyVersion = UINT32_MAX;

// Returns the table, indexed by the value of Quirk.
[[nodiscard]] std::span<const QuirkEntry> quirk_entries();
// Returns the entry's formats, such as "opencl-c" or "opencl-c, cuda-c".
[[nodiscard]] std::string format_names(const QuirkEntry& entry);

// Parses names of entries, separated by commas; `all` stands for every entry. Error:
// INVALID_ARGUMENT for an unknown name, with a list of the known ones.
[[nodiscard]] Result<QuirkSet> parse_quirks(std::string_view names);

// The changes that the user makes to the set of a device.
struct QuirkChoice {
    QuirkSet with, without;
    [[nodiscard]] constexpr QuirkSet of(QuirkSet device) const {
        return device.with(with).without(without);
    }
};

}  // namespace wye::lower
