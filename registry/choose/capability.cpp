// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/capability.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::registry {
namespace {

constexpr const char* kCountsAsOne = "not reported (counts as 1)";

std::string triple_text(const std::array<std::uint32_t, 3>& v) {
    return fmt::format("{}x{}x{}", v[0], v[1], v[2]);
}

void check_capabilities(const Requirements& needs, const Facts& facts, CapabilityCheck& out) {
    for (const std::string& name : needs.capabilities) {
        const FactInfo* info = find_fact(name);
        if (info == nullptr || info->type != WYE_FACT_BOOL) {
            out.unmet.push_back({name, "yes", "not a capability that this host knows"});
        } else if (!facts.has(info->key)) {
            out.unmet.push_back(
                {name, "yes", facts.find(info->key) == nullptr ? "not reported" : "no"});
        }
    }
}

void check_workgroup(const Requirements& needs, const Facts& facts, CapabilityCheck& out) {
    const auto size = facts.triple(WYE_FACT_KEY_MAX_WORKGROUP_SIZE);
    const auto limit = size.value_or(std::array<std::uint32_t, 3>{1, 1, 1});
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (needs.workgroup[axis] <= limit[axis]) continue;
        out.unmet.push_back({"max_workgroup_size", triple_text(needs.workgroup),
                             size ? triple_text(limit) : kCountsAsOne});
        break;
    }
    // The product of three 32-bit factors can overflow 64 bits. It then exceeds any limit.
    const std::uint64_t plane = std::uint64_t{needs.workgroup[0]} * needs.workgroup[1];
    std::uint64_t invocations = 0;
    if (__builtin_mul_overflow(plane, std::uint64_t{needs.workgroup[2]}, &invocations))
        invocations = UINT64_MAX;
    const auto most = facts.number(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS);
    if (invocations > most.value_or(1))
        out.unmet.push_back({"max_workgroup_invocations", std::to_string(invocations),
                             most ? std::to_string(*most) : kCountsAsOne});
}

void check_storage(const char* name, std::uint32_t key, std::uint64_t needed, const Facts& facts,
                   CapabilityCheck& out) {
    if (needed == 0) return;
    const auto limit = facts.number(key);
    if (!limit) {
        out.unverified.emplace_back(name);
    } else if (needed > *limit) {
        out.unmet.push_back({name, std::to_string(needed), std::to_string(*limit)});
    }
}

void check_subgroup(const Requirements& needs, const Facts& facts, CapabilityCheck& out) {
    if (!needs.subgroups && needs.subgroup == 0) return;
    const auto sizes = facts.list(WYE_FACT_KEY_SUBGROUP_SIZES);
    const std::uint64_t invocations =
        std::uint64_t{needs.workgroup[0]} * needs.workgroup[1] * needs.workgroup[2];
    std::string needed = needs.subgroup == 0 ? "any" : std::to_string(needs.subgroup);
    std::string actual;
    bool listed = false;
    for (const std::uint64_t size : sizes) {
        if (needs.subgroup == 0 || size == needs.subgroup) {
            if (size != 0 && invocations % size == 0) return;
            listed = true;
        }
        actual += fmt::format("{}{}", actual.empty() ? "" : " ", size);
    }
    if (listed) needed += fmt::format(" that divides the workgroup of {}", invocations);
    out.unmet.push_back(
        {"subgroup_sizes", std::move(needed), actual.empty() ? "not reported" : actual});
}

}  // namespace

CapabilityCheck check(const Requirements& needs, const Facts& facts) {
    CapabilityCheck out;
    check_capabilities(needs, facts, out);
    check_workgroup(needs, facts, out);
    check_storage("max_shared_bytes", WYE_FACT_KEY_MAX_SHARED_BYTES, needs.shared_bytes, facts,
                  out);
    check_storage("max_private_bytes", WYE_FACT_KEY_MAX_PRIVATE_BYTES, needs.private_bytes, facts,
                  out);
    check_storage("max_param_bytes", WYE_FACT_KEY_MAX_PARAM_BYTES, needs.param_bytes, facts, out);
    check_storage("max_buffers", WYE_FACT_KEY_MAX_BUFFERS, needs.buffers, facts, out);
    check_storage("max_buffer_bytes", WYE_FACT_KEY_MAX_BUFFER_BYTES, needs.largest_buffer_bytes,
                  facts, out);
    check_storage("memory_bytes", WYE_FACT_KEY_MEMORY_BYTES, needs.total_bytes, facts, out);
    check_subgroup(needs, facts, out);
    return out;
}

std::string to_text(const Unmet& unmet) {
    return fmt::format("needs {} {}, has {}", unmet.name, unmet.needed, unmet.actual);
}

}  // namespace wye::registry
