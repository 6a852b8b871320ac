// SPDX-License-Identifier: Apache-2.0
//
// Analysis of a valid program: required capabilities, determinism, static sizes. Pure; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

struct Need {
    std::string capability;  // a fact name of wye/abi.h: "int64", "storage8", "ieee_f32", ...
    std::string because;     // such as "64-bit integers at 9:12"
    Place place;
};

struct Doubt {
    std::string
        // One of race, atomic_order, float_atomic, unset, subgroup_width, may_not_terminate.
        reason;
    std::string what;  // names the array or construct
    Place place;
    Place other = {};  // for a race: the other access, if it is not the one at `place`
};

// What the verdict "deterministic" assumes about a launch. In a launch that breaks an assumption,
// two invocations may access the same element, which is the doubt `race`.
struct Assumptions {
    // The number of u32 indices. Larger indices wrap around.
    static constexpr std::uint64_t kIndices = std::uint64_t{1} << 32;

    std::uint32_t axes = 3;                  // axes that may have more than one invocation
    std::uint64_t x_invocations = kIndices;  // maximum number of invocations on the x axis
    // The lengths of rows. Each of them, times the number of invocations on the y axis, is at most
    // kIndices. Each is one node: a literal, a parameter or a length.
    std::vector<SizeExpr> rows;

    // Whether a launch fulfils the assumptions. `params` and `lengths` are as in evaluate_size.
    [[nodiscard]] bool hold(std::span<const std::uint64_t> params,
                            std::span<const std::uint64_t> lengths,
                            const std::array<std::uint64_t, 3>& invocations) const;
    // Whether an assumption depends on a parameter.
    [[nodiscard]] bool read_params() const;
};

struct Analysis {
    // One need for each capability, at the first position that needs it. Grid barriers are not
    // needs, since launches are split at them.
    std::vector<Need> needs;
    std::vector<Doubt> doubts;  // empty if launches that fulfil `assumes` are deterministic
    Assumptions assumes;
    // The races of launches with the program's own grid, if its literals break an assumption.
    std::vector<Doubt> own_grid;
    // In words, the assumptions that only some launches with the program's own grid fulfil; empty:
    // there are none.
    std::string condition;
    std::uint64_t shared_bytes = 0;       // static workgroup memory
    std::uint64_t local_array_bytes = 0;  // of main and the call in it that needs most
    std::uint32_t params_bytes = 0;
    bool uses_barrier = false;
    bool uses_grid_barrier = false;
    // The number of phases into which grid barriers split a launch. 0: loops around the barriers
    // decide the number.
    std::uint32_t kernels = 1;
    bool uses_subgroup = false;
    bool uses_trap = false;
    bool may_not_terminate = false;
    // Whether every launch with the program's own grid and workgroup size is deterministic.
    [[nodiscard]] bool deterministic() const {
        return doubts.empty() && own_grid.empty() && condition.empty();
    }
    // Whether launches with the program's own grid and workgroup size are deterministic, but only
    // if they fulfil `condition`.
    [[nodiscard]] bool deterministic_if() const {
        return doubts.empty() && own_grid.empty() && !condition.empty();
    }
};
[[nodiscard]] Analysis analyse(const Program& program);

// Arrays that need no zero fill, always or depending on the launch.
struct ZeroFill {
    // By buffer index: whether the program fully writes the array first.
    std::vector<bool> shared_skippable;

    // A u32 value that is known at a launch.
    struct Limit {
        enum class From : std::uint8_t { Literal, Param, Length };
        From from = From::Literal;
        std::uint64_t value = 0;       // the literal, or the index of the parameter or buffer
        std::uint32_t divided_by = 1;  // the value is divided by this and rounded down
        friend bool operator==(const Limit&, const Limit&) = default;
    };
    // The value workgroup_id.group * size + local_id.local, which takes every value below the
    // number of invocations. `size` 0 stands for the workgroup size on that axis; any other `size`
    // must equal that workgroup size.
    struct Coordinate {
        std::uint8_t group = 0;
        std::uint8_t local = 0;
        std::uint32_t size = 0;
        std::vector<Limit> below;  // the store's conditions on the coordinate
    };
    // An output with a single access, a store to r[column] or r[row * pitch + column]. The column
    // may be the counter of a loop.
    struct Output {
        bool candidate = false;
        bool has_rows = false;
        std::uint64_t loop = 0;  // the column is the counter of `for column in 0..loop`; 0: no loop
        Coordinate column, row;
        Limit pitch;
    };
    std::vector<Output> outputs;  // by buffer index
};
[[nodiscard]] ZeroFill zero_fill(const Program& program);

// Computes the exact value of a size expression. `params`: the bits of each parameter,
// zero-extended, by parameter index. `lengths`: exact element counts by buffer index. Error:
// INVALID_ARGUMENT, which names `what`, for a negative result, a division by zero, or a result of
// 2^63 or more.
[[nodiscard]] Result<std::uint64_t> evaluate_size(const SizeExpr& size, const Program& program,
                                                  std::span<const std::uint64_t> params,
                                                  std::span<const std::uint64_t> lengths,
                                                  const std::string& what);

}  // namespace wye::ir
