// SPDX-License-Identifier: Apache-2.0
//
// The kernel sets that this machine can run. Pure; thread-safe.
#pragma once

#include <string_view>

#include "cpu/kernels/set.hpp"

namespace wye::cpu {

// A kernel set by name: "baseline", "avx2", "avx512". Null if unknown, or not available here.
[[nodiscard]] const KernelSet* kernels_named(std::string_view name);
// The set with the widest vectors.
[[nodiscard]] const KernelSet& best_kernels();
// The names that this machine accepts, for messages: "baseline, avx2".
[[nodiscard]] std::string_view isa_names();

}  // namespace wye::cpu
