// SPDX-License-Identifier: Apache-2.0
//
// Analysis of a valid program: required capabilities, determinism, static sizes. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::ir {

struct Need {
    std::string capability;  // a fact name of wye/abi.h: "int64", "storage8", "ieee_f32", ...
    std::string because;     // "64-bit integers at 9:12"
    Place place;
};

struct Doubt {
    std::string
        reason;        // race, atomic_order, float_atomic, unset, subgroup_width, may_not_terminate
    std::string what;  // names the array or construct
    Place place;
};

// Assumptions of the verdict "deterministic" about a launch. In a launch that breaks them, two
// invocations may access one element: the doubt `race` is added then.
struct Assumptions {
    std::uint32_t axes = 3;  // no axis from this one on has more than one invocation
    std::uint64_t x_invocations = std::uint64_t{1} << 32;  // at most this many on the x axis
    std::vector<SizeExpr> rows;  // invocations of the y axis times each is at most 2^32
};

struct Analysis {
    // One per capability, with its first place. Grid barriers are not needs: launches are split at
    // them.
    std::vector<Need> needs;
    std::vector<Doubt> doubts;  // empty: deterministic
    Assumptions assumes;
    std::uint64_t shared_bytes = 0;       // static workgroup memory
    std::uint64_t local_array_bytes = 0;  // of main plus its deepest call
    std::uint32_t params_bytes = 0;
    bool uses_barrier = false;
    bool uses_grid_barrier = false;
    // Number of phases that grid barriers split a launch into; 0: depends on loops around them.
    std::uint32_t kernels = 1;
    bool uses_subgroup = false;
    bool uses_trap = false;
    bool may_not_terminate = false;
    [[nodiscard]] bool deterministic() const { return doubts.empty(); }
};
[[nodiscard]] Analysis analyse(const Program& program);

// Arrays whose zero fill may be left out: always, or depending on the launch.
struct ZeroFill {
    std::vector<bool> shared_skippable;  // by buffer index: the array is fully written first

    // A u32 that is known at a launch.
    struct Limit {
        enum class From : std::uint8_t { Literal, Param, Length };
        From from = From::Literal;
        std::uint64_t value = 0;       // a literal, else the index of the parameter or buffer
        std::uint32_t divided_by = 1;  // rounded down
        friend bool operator==(const Limit&, const Limit&) = default;
    };
    // workgroup_id.group * size + local_id.local, which takes every value below the number of
    // invocations; `size` 0 is the workgroup's own on that axis, another value must equal it.
    struct Coordinate {
        std::uint8_t group = 0;
        std::uint8_t local = 0;
        std::uint32_t size = 0;
        std::vector<Limit> below;  // the conditions of the store
    };
    // An output that is only stored, once, as r[column] or r[row * pitch + column]; a loop may give
    // the column.
    struct Output {
        bool candidate = false;
        bool has_rows = false;
        std::uint64_t loop = 0;  // the column is that of `for column in 0..loop`
        Coordinate column, row;
        Limit pitch;
    };
    std::vector<Output> outputs;  // by buffer index
};
[[nodiscard]] ZeroFill zero_fill(const Program& program);

// The exact value of a size expression. `params`: raw little-endian values by parameter index,
// zero-extended bits; `lengths`: exact element counts by buffer index. INVALID_ARGUMENT for
// negative results, division by zero, or 2^63 and more, naming `what`.
[[nodiscard]] Result<std::uint64_t> evaluate_size(const SizeExpr& size, const Program& program,
                                                  std::span<const std::uint64_t> params,
                                                  std::span<const std::uint64_t> lengths,
                                                  const std::string& what);

}  // namespace wye::ir
