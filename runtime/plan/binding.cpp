// SPDX-License-Identifier: Apache-2.0
#include "plan/binding.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace wye::plan {
namespace {

Result<Binding> make_binding(const ir::Program& program, std::uint32_t index) {
    const ir::Buffer& buffer = program.buffers[index];
    Binding out;
    out.name = buffer.name;
    out.binding = buffer.binding;
    out.buffer_index = index;
    out.role = buffer.role;
    out.element_size = buffer.type.bytes();
    out.natural_alignment = std::max(buffer.natural_alignment(), 1U);
    out.count_kind = buffer.count_kind;
    if (buffer.align != 0 && !std::has_single_bit(buffer.align))
        return Error(Code::INVALID_PROGRAM,
                     fmt::format("`{}` asks for alignment {}, which is not a power of two",
                                 buffer.name, buffer.align),
                     "Fix: use a power of two, or leave `align` out", buffer.name);
    if (buffer.hints.prefer_align != 0 && !std::has_single_bit(buffer.hints.prefer_align))
        return Error(Code::INVALID_PROGRAM,
                     fmt::format("`{}` prefers alignment {}, which is not a power of two",
                                 buffer.name, buffer.hints.prefer_align),
                     "Fix: use a power of two, or leave `prefer_align` out", buffer.name);
    if (buffer.shared() && buffer.hints.given())
        return Error(Code::INVALID_PROGRAM,
                     fmt::format("`{}` is workgroup memory and cannot have hints", buffer.name),
                     "Fix: remove them", buffer.name);
    out.required_alignment = std::max(out.natural_alignment, buffer.align);
    out.preferred_alignment = std::max(out.required_alignment, buffer.hints.prefer_align);
    out.hints = buffer.hints;
    if (buffer.shared() && buffer.live)
        return Error(Code::INVALID_PROGRAM,
                     fmt::format("`{}` is workgroup memory and cannot be `live`", buffer.name),
                     "Fix: copy the values to an output buffer", buffer.name);
    if (buffer.count_kind == ir::Buffer::Count::Literal) {
        std::uint64_t bytes = 0;
        if (__builtin_mul_overflow(buffer.count, std::uint64_t{out.element_size}, &bytes))
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("`{}` has {} elements of {} bytes, 2^64 bytes or more",
                                     buffer.name, buffer.count, out.element_size),
                         "Fix: split the buffer or lower its count", buffer.name);
        out.static_bytes = bytes;
    }
    return out;
}

}  // namespace

Result<BindingPlan> binding_plan(const ir::Program& program) {
    std::vector<std::uint32_t> order(program.buffers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t i) { return program.buffers[i].binding; });

    BindingPlan plan;
    for (const std::uint32_t index : order) {
        const ir::Buffer& buffer = program.buffers[index];
        if (!plan.bindings.empty() && plan.bindings.back().binding == buffer.binding)
            return Error(Code::INVALID_PROGRAM,
                         fmt::format("binding {} is used by both `{}` and `{}`", buffer.binding,
                                     plan.bindings.back().name, buffer.name),
                         "Fix: give each buffer a binding number of its own", buffer.name);
        WYE_ASSIGN(Binding binding, make_binding(program, index));
        const auto slot = static_cast<std::uint32_t>(plan.bindings.size());
        if (buffer.in_inputs()) {
            binding.input_index = static_cast<std::uint32_t>(plan.inputs.size());
            plan.inputs.push_back(slot);
        }
        if (buffer.in_outputs()) {
            binding.output_index = static_cast<std::uint32_t>(plan.outputs.size());
            plan.outputs.push_back(slot);
        }
        (buffer.shared() ? plan.shared : plan.arguments).push_back(slot);
        plan.bindings.push_back(std::move(binding));
    }
    return plan;
}

LayoutFingerprint layout_fingerprint(const BindingPlan& plan) {
    std::vector<std::uint32_t> words;
    for (const Binding& binding : plan.bindings) {
        words.push_back(binding.binding);
        words.push_back(static_cast<std::uint32_t>(binding.role));
        words.push_back(binding.element_size);
    }
    return layout_fingerprint(std::span<const std::uint32_t>(words));
}

LayoutFingerprint layout_fingerprint(std::span<const std::uint32_t> words) {
    const XXH128_hash_t hash = XXH3_128bits(words.data(), words.size_bytes());
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    LayoutFingerprint out{};
    std::copy_n(canonical.digest, out.size(), out.begin());
    return out;
}

std::string hex(const LayoutFingerprint& fingerprint) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const std::uint8_t byte : fingerprint) {
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

bool share_layout(const BindingPlan& a, const BindingPlan& b) {
    return std::ranges::equal(a.bindings, b.bindings, [](const Binding& x, const Binding& y) {
        return x.binding == y.binding && x.role == y.role && x.element_size == y.element_size;
    });
}

}  // namespace wye::plan
