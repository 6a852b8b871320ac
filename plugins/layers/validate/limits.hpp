// SPDX-License-Identifier: Apache-2.0
//
// The limits and facts of a device on which the host's obligations depend.
#pragma once

#include <array>
#include <cstdint>

#include "wye/abi.h"
#include "wye/sdk/facts.hpp"

namespace wye::layers::validate {

struct Limits {
    // These limits are 1 if unknown.
    std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1}, workgroups = {1, 1, 1};
    std::uint64_t invocations = 1;
    // These limits are UINT64_MAX if unknown, which means no limit.
    std::uint64_t shared_bytes = UINT64_MAX, param_bytes = UINT64_MAX, buffers = UINT64_MAX,
                  buffer_bytes = UINT64_MAX;
    std::uint64_t host_memory_alignment = 0;  // 0 if unknown
};

// `fact(key, wye_fact& out)` is the slot device_fact.
template <typename Fact>
[[nodiscard]] Limits read_limits(Fact&& fact) {
    Limits out;
    const auto number = [&](std::uint32_t key, std::uint64_t& to) {
        wye_fact value = sdk::facts::empty();
        if (fact(key, value) == WYE_OK && value.type == WYE_FACT_U64) to = value.u;
    };
    const auto triple = [&](std::uint32_t key, std::array<std::uint32_t, 3>& to) {
        wye_fact value = sdk::facts::empty();
        if (fact(key, value) == WYE_OK && value.type == WYE_FACT_U32X3)
            to = {value.xyz[0], value.xyz[1], value.xyz[2]};
    };
    triple(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, out.workgroup_size);
    triple(WYE_FACT_KEY_MAX_WORKGROUPS, out.workgroups);
    number(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS, out.invocations);
    number(WYE_FACT_KEY_MAX_SHARED_BYTES, out.shared_bytes);
    number(WYE_FACT_KEY_MAX_PARAM_BYTES, out.param_bytes);
    number(WYE_FACT_KEY_MAX_BUFFERS, out.buffers);
    number(WYE_FACT_KEY_MAX_BUFFER_BYTES, out.buffer_bytes);
    number(WYE_FACT_KEY_HOST_MEMORY_ALIGNMENT, out.host_memory_alignment);
    return out;
}

}  // namespace wye::layers::validate
