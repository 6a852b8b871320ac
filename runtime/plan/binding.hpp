// SPDX-License-Identifier: Apache-2.0
//
// The binding plan: the properties of a program's buffers that every launch needs, computed once
// per program. Sorted by binding number; the input and output lists have the same order. Pure
// values; thread-safe when shared const. Sizes are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::plan {

struct Binding {
    std::string name;
    std::uint32_t binding = 0;       // the binding number
    std::uint32_t buffer_index = 0;  // index in ir::Program::buffers
    ir::Role role = ir::Role::INPUT;
    std::uint32_t element_size = 0;
    std::uint32_t natural_alignment = 0;  // required of the start of a bound range
    // For allocation: the larger of natural_alignment and `align`.
    std::uint32_t required_alignment = 0;
    // For allocation: the largest of natural_alignment, `align` and `prefer_align`.
    std::uint32_t preferred_alignment = 0;
    ir::Hints hints;
    ir::Buffer::Count count_kind = ir::Buffer::Count::Runtime;
    std::optional<std::uint64_t> static_bytes;  // known if the count is a literal
    std::optional<std::uint32_t> input_index;   // index in the input list
    std::optional<std::uint32_t> output_index;  // index in the output list
};

struct BindingPlan {
    std::vector<Binding> bindings;         // ascending by binding number, `shared` arrays included
    std::vector<std::uint32_t> inputs;     // indices into `bindings`
    std::vector<std::uint32_t> outputs;    // likewise
    std::vector<std::uint32_t> shared;     // likewise
    std::vector<std::uint32_t> arguments;  // likewise: all but `shared`, in artifact order
};

// Computes the plan. The program need not be validated. Errors: INVALID_PROGRAM for a binding
// number used twice, an alignment that is not a power of two, or `live` or hints on a shared array;
// LIMIT_EXCEEDED for a static length of 2^64 bytes or more.
[[nodiscard]] Result<BindingPlan> binding_plan(const ir::Program& program);

// The fingerprint of a layout. Programs with equal fingerprints can share descriptor layouts. The
// fingerprint is the 128-bit XXH3 of the list of (binding, role, element size), the same on every
// machine, most significant byte first. Hints are left out, since they do not change the layout.
using LayoutFingerprint = std::array<std::uint8_t, 16>;
[[nodiscard]] LayoutFingerprint layout_fingerprint(const BindingPlan& plan);
// Returns the fingerprint of a list of words that describes a layout.
[[nodiscard]] LayoutFingerprint layout_fingerprint(std::span<const std::uint32_t> words);
[[nodiscard]] std::string hex(const LayoutFingerprint& fingerprint);  // returns 32 digits
[[nodiscard]] bool share_layout(const BindingPlan& a, const BindingPlan& b);

}  // namespace wye::plan
