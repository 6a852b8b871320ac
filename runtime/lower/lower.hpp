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

// A set of operations that use a dialect's native form: see passes/native_functions.hpp.
using NativeSet = std::uint64_t;

struct Options {
    // The workgroup size that a launch uses instead of the program's. The caller has checked it
    // against the device's limits (plan/admit.hpp).
    std::optional<std::array<std::uint32_t, 3>> workgroup;
    bool folded_grid = false;  // read workgroup ids and counts from WYE_SLOT_GRID
    // Allows native forms of `/`, sqrt and math functions whose documented error is at most this
    // many ulp. 0: none.
    std::uint32_t ulp_budget = 0;
    // Native operations that are already chosen. `lower` adds the operations within `ulp_budget`.
    NativeSet natives = 0;
    // Leaves out the range checks that preconditions() of this program and workgroup make
    // redundant. The host runs the artifact only if the preconditions hold.
    bool check_free = false;
};

struct Artifact {
    std::string format;
    std::vector<std::byte> code;
    std::string entry;
    std::vector<wye_slot> slots;  // in kernel-argument order
    std::uint32_t binding_count = 0;
    // The workgroup size to launch: that of the options, else the program's. 1x1x1 if one
    // invocation of the device runs a whole workgroup.
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t subgroup = 0;      // width of subgroups; 0 if none are used
    std::uint32_t shared_bytes = 0;  // size of the workgroup memory that the code declares
    std::uint32_t params_size = 0;
    std::string options;  // compiler flags, separated by spaces
    bool uses_trap = false;
    NativeSet natives = 0;  // operations in native form

    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(code.data()), code.size()};
    }
};

// Chooses the subgroup width of a program on a device, among the device's widths that divide the
// number of invocations of a workgroup: the width that the program demands, else 32, else the
// widest. If the device's widths are unknown, the powers of two from 4 to 128 count as its widths.
// Returns 0 for a program without subgroup operations, and UNSUPPORTED if no width fits.
[[nodiscard]] Result<std::uint32_t> subgroup_width(const ir::Program& program,
                                                   const TargetFacts& facts,
                                                   const Options& options);

// The trap code for a loop that the driver ended. It is greater than every trap code that a program
// can have.
inline constexpr std::uint32_t kLoopsEnded = 0x10000;

// The formats that `lower` can produce: "wye-program", "opencl-c", "cuda-c", "spirv-vulkan".
[[nodiscard]] std::vector<std::string_view> formats();
// The formats that plugins' compilers produce from the formats above.
[[nodiscard]] std::vector<std::string_view> compiled_formats();
// Whether artifacts of this format receive buffers as bindings, and lengths and parameters as push
// constants. Artifacts of other formats receive all of these as kernel arguments.
[[nodiscard]] bool uses_push_constants(std::string_view format);

// Whether artifacts of this format may have grid barriers, for cooperative launches.
[[nodiscard]] bool has_grid_barriers(std::string_view format);

// Returns the conditions under which a launch may use the check-free form. Empty if the program has
// no such form, is invalid, or exceeds a limit. `natives`: operations kept in native form.
[[nodiscard]] Preconditions preconditions(const ir::Program& program,
                                          std::array<std::uint32_t, 3> workgroup,
                                          NativeSet natives = 0);

// Lowers a valid program. UNSUPPORTED for an unknown format, and for a construct that cannot be
// lowered: the error names the construct and its position. Never INVALID_PROGRAM if `program` is
// valid.
[[nodiscard]] Result<Artifact> lower(const ir::Program& program, std::string_view format,
                                     const TargetFacts& facts, const Options& options = {});

}  // namespace wye::lower
