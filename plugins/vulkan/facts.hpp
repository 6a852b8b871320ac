// SPDX-License-Identifier: Apache-2.0
//
// The facts of wye/abi.h about one device. Pure.
#pragma once

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// Whether a fact's answer comes from the self-test.
[[nodiscard]] bool needs_self_test(std::uint32_t key);

// UNKNOWN_KEY, UNSUPPORTED, or OK with the fact in `out`. `verdict` matters for self-tested facts.
[[nodiscard]] wye_status fact(const Device& device, const Verdict& verdict, std::uint32_t key,
                              wye_fact& out);

}  // namespace wye::vulkan
