// SPDX-License-Identifier: Apache-2.0
//
// Checks a grid (three numbers of workgroups) that a launch reads from a buffer. No driver checks
// these numbers: for too many workgroups the driver may do anything, up to losing the device. So a
// program of the library, the checking program, runs on the device before the launch, in the same
// submit. It copies the numbers to the memory of the trap words, where the launch reads them. If
// there are too many workgroups, it writes zeros instead, so that nothing runs. Then it also writes
// a trap code, which the host reads at the end. The checking program is lowered and compiled for
// the device like any other, at the first such dispatch of a session.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "exec/program/compiled_program.hpp"
#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class LoadedProgram;

// The layout of the memory of trap words, which all programs of a submit share. First come the trap
// words themselves.
inline constexpr std::uint64_t kTrapBytes = 8;  // {u32 largest code, u32 count}
// The part that the host reads: the trap words, then the grid that a check refused: {u32 x, y, z,
// u32 number of the dispatch}.
inline constexpr std::uint64_t kCheckedBytes = 32;
inline constexpr std::uint64_t kGridPlace = 32;  // offset of the grid that the launch reads
inline constexpr std::uint64_t kTrapMemory = 64;

// The trap code for a grid that was refused. It is above all trap codes of programs.
inline constexpr std::uint32_t kGridRefused = 0x10001;

// The checking program, compiled for a session. Empty for launches whose grid the host knows.
struct GridCheck {
    std::shared_ptr<LoadedProgram> program;
    CompiledRef compiled;

    explicit operator bool() const noexcept { return compiled != nullptr; }
};

// Memory that the operation of a check points to.
struct GridCheckMemory {
    static constexpr std::size_t kBindings = 2;  // the buffer, and the memory of trap words
    std::array<wye_binding, kBindings> bindings;
    alignas(8) std::array<std::byte, 24> params;
};

// The grid to check: three numbers in a buffer, and their limits.
struct CheckedGrid {
    wye_buffer_object* buffer;
    std::uint64_t offset;     // of the numbers
    plan::Count3 most;        // maximum number of workgroups on each axis
    std::uint32_t number;     // of the dispatch, for the error
    std::uint64_t alignment;  // of ranges that the device binds
};

// Writes the operation that checks a grid, and `memory`, to which the operation points. `trap`: the
// memory of trap words. Errors: those of plan::pack_params.
[[nodiscard]] Result<void> write_grid_check(const GridCheck& check, const CheckedGrid& grid,
                                            wye_buffer_object* trap, GridCheckMemory& memory,
                                            wye_operation& out);

// The text of the checking program, for tests.
[[nodiscard]] std::string_view grid_check_text() noexcept;

}  // namespace wye::exec
