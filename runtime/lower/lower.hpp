// SPDX-License-Identifier: Apache-2.0
//
// Lowering: a valid program and a device's facts become an artifact that a plugin accepts. Pure;
// thread-safe; knows no driver and no registry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lower/analysis/preconditions.hpp"
#include "lower/target.hpp"
#include "wye/abi.h"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::lower {

// Operations in a dialect's own form, not exact: see passes/native_functions.hpp.
using NativeSet = std::uint64_t;

struct Options {
    std::optional<std::array<std::uint32_t, 3>> workgroup;  // an override, already admitted
    bool folded_grid = false;  // take workgroup ids and counts from WYE_SLOT_GRID
    // Native forms of `/`, sqrt and math functions are fine up to this stated error. 0: strict.
    std::uint32_t ulp_budget = 0;
    NativeSet natives = 0;  // chosen before; `lower` adds what the budget allows
    // Leave out the range checks that hold where preconditions() of this program and workgroup do;
    // the host runs the artifact only where they hold.
    bool check_free = false;
};

struct Artifact {
    std::string format;
    std::vector<std::byte> code;
    std::string entry;
    std::vector<wye_slot> slots;  // in kernel-argument order
    std::uint32_t binding_count = 0;
    // That the device launches: the effective size, or 1 each where one invocation runs them all.
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t subgroup = 0;      // width of subgroups; 0: it uses none
    std::uint32_t shared_bytes = 0;  // above what the dialect can declare: one dynamic block
    std::uint32_t params_size = 0;
    std::string options;  // compiler flags, space separated
    bool uses_trap = false;
    NativeSet natives = 0;  // what is not exact in it

    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(code.data()), code.size()};
    }
};

// The width of subgroups that a program runs with on a device: what it demands, else 32, else the
// device's widest; it divides the workgroup. 0 for programs without subgroups. Without facts any
// width from 4 to 128 counts as there. UNSUPPORTED where none fits.
[[nodiscard]] Result<std::uint32_t> subgroup_width(const ir::Program& program,
                                                   const TargetFacts& facts,
                                                   const Options& options);

// The code of a trap that says that the driver ended a loop: above all codes of programs.
inline constexpr std::uint32_t kLoopsEnded = 0x10000;

// Formats that `lower` can produce now: "wye-program", "opencl-c", "cuda-c", "spirv-vulkan".
[[nodiscard]] std::vector<std::string_view> formats();
// Formats that plugins' compilers make of these.
[[nodiscard]] std::vector<std::string_view> compiled_formats();
// Artifacts of this format are numbered by binding, and take lengths and parameters as push
// constants; those of all others take them as arguments.
[[nodiscard]] bool uses_push_constants(std::string_view format);

// What a launch must satisfy for the check-free form; empty where there is no other form. For
// programs with errors, or beyond a limit, empty too. `natives`: what stays as it is.
[[nodiscard]] Preconditions preconditions(const ir::Program& program,
                                          std::array<std::uint32_t, 3> workgroup,
                                          NativeSet natives = 0);

// UNSUPPORTED for an unknown format or a construct that this version does not lower (named, with
// its place); INVALID_PROGRAM never, if `program` is valid.
[[nodiscard]] Result<Artifact> lower(const ir::Program& program, std::string_view format,
                                     const TargetFacts& facts, const Options& options = {});

}  // namespace wye::lower
