// SPDX-License-Identifier: Apache-2.0
//
// The data of the dispatch steps: the properties of a program (ProgramPlan), a caller's request
// (Request), and an admitted request (Launch). Plain structures that borrow the caller's memory. A
// Launch has room for the largest program, so that admission does not allocate. Sizes and offsets
// are bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/binding.hpp"
#include "program/analysis/analysis.hpp"
#include "wye/sdk/program.hpp"

namespace wye::plan {

using Count3 = std::array<std::uint32_t, 3>;

// The properties of a program that do not depend on a launch. `program` must outlive it.
struct ProgramPlan {
    const ir::Program* program = nullptr;
    BindingPlan bindings;
    ir::ParamLayout params;
    std::uint32_t params_bytes = 0;  // maximum over the kernels: the program's or its phases'
    ir::Analysis analysis;
    ir::ZeroFill zero_fill;
    // By binding number: the index of the argument, or -1.
    std::array<std::int8_t, WYE_LIMIT_BUFFERS> argument_of;
    std::vector<std::string> count_names;  // by buffer index, such as "the count of `y`"
    std::array<std::string, 3> grid_names;
    // Whether a count, a grid axis or a zero fill depends on a parameter.
    bool params_decide_sizes = false;
    // Whether a parameter decides if a launch is deterministic.
    bool params_decide_verdict = false;
};
[[nodiscard]] Result<ProgramPlan> plan_program(const ir::Program& program);

enum class ArgumentKind : std::uint8_t { Host = 1, Resident = 2, Discard = 3 };

// One argument of a request. Has no initialisers, since requests keep an array of the maximum size
// on the stack.
struct Argument {
    ArgumentKind kind;
    std::uint32_t binding;
    const std::byte* input;  // Host: read by the device
    std::uint64_t input_size;
    std::byte* output;  // Host, Resident; null if the output is not read back
    std::uint64_t output_size;
    bool returned;                // the output is read back to memory of the library
    std::uint64_t buffer;         // Resident: its handle
    std::uint64_t buffer_offset;  // Resident
    std::uint64_t buffer_size;    // Resident: of the whole buffer
    std::uint64_t size;           // Resident: 0 is "to the end"; Discard: 0 is "compute it"

    // An `output_size` that stands for all bytes of the output.
    static constexpr std::uint64_t kAllBytes = UINT64_MAX;
    // Whether a resident argument is read back.
    [[nodiscard]] bool asks() const { return output != nullptr || output_size != 0; }
};

struct Request {
    std::span<const Argument> arguments;
    std::span<const std::uint64_t> params;
    bool has_grid = false;
    bool has_elements = false;
    bool indirect = false;  // the grid is in a buffer
    bool cooperative = false;
    Count3 grid = {0, 0, 0};
    // The buffer with the grid: its handle (0: not given), the byte offset of the grid, and its
    // size.
    std::uint64_t grid_buffer = 0;
    std::uint64_t grid_offset = 0;
    std::uint64_t grid_buffer_size = 0;
    std::uint64_t elements = 0;
    Count3 workgroup = {0, 0, 0};  // replaces the program's workgroup size, unless it is all zeros
    std::uint64_t max_output_bytes = 0;
    bool has_fixpoint = false;
    std::uint32_t fixpoint_iterations = 0;  // 0: not given
    std::uint32_t ulp_budget = 0;
    bool speculation = false;
    bool persistent = false;
    bool sizes_only = false;  // only sizes are wanted, so outputs may lack storage
};

// The maximum number of invocations on an axis of a grid, and of workgroups in a grid.
inline constexpr std::uint32_t kMostInGrid = 0xffffffffU;
// The bytes of a grid in a buffer: three u32.
inline constexpr std::uint64_t kGridBufferBytes = 12;

// One buffer of an admitted launch. A launch has its buffers in the order of the artifact.
struct BoundBuffer {
    std::uint32_t buffer_index;  // index in ir::Program::buffers
    std::uint32_t argument;      // index in Request::arguments; kNone: none (sizes_only)
    ArgumentKind kind;
    bool writable;
    bool zero;      // whether it must be zeroed before the launch
    bool returned;  // whether it is read back to memory that is allocated after admission
    std::uint64_t elements;
    std::uint64_t bytes;
    const std::byte* input;  // Host: has `bytes` bytes; null: no upload
    std::byte* output;       // has `read_size` bytes; null: not read back
    std::uint64_t read_offset;
    std::uint64_t read_size;
    std::uint64_t handle;  // Resident
    std::uint64_t offset;  // Resident

    [[nodiscard]] bool is_read() const { return (output != nullptr || returned) && read_size != 0; }
};

struct Launch {
    // Not initialised, on purpose: only [0, buffer_count) and [0, params_size) are valid.
    BoundBuffer buffers[WYE_LIMIT_BUFFERS];
    alignas(8) std::byte params[WYE_LIMIT_PARAMS * 8];
    std::uint32_t buffer_count;
    std::uint32_t params_size;
    Count3 groups;  // zeros if `indirect`
    Count3 workgroup;
    std::uint32_t iterations;  // number of launches with the same bindings
    bool has_override;         // whether `workgroup` is not the program's own
    bool empty;          // whether a workgroup count is zero: nothing runs, but outputs are zeroed
    bool deterministic;  // whether the analysis proves that the body is deterministic
    // Whether the device reads the number of workgroups from a buffer, at byte `grid_offset`.
    bool indirect = false;
    std::uint64_t grid_offset;

    [[nodiscard]] std::span<const BoundBuffer> bound() const { return {buffers, buffer_count}; }
    // The maximum number of workgroups on each axis. Exact, unless the grid is in a buffer.
    [[nodiscard]] Count3 most_groups() const {
        if (!indirect) return groups;
        return {kMostInGrid / workgroup[0], kMostInGrid / workgroup[1], kMostInGrid / workgroup[2]};
    }
    // Whether the host reads back a resident buffer.
    [[nodiscard]] bool reads_residents() const {
        return std::ranges::any_of(bound(), [](const BoundBuffer& one) {
            return one.kind == ArgumentKind::Resident && one.is_read();
        });
    }
};

}  // namespace wye::plan
