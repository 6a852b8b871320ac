// SPDX-License-Identifier: Apache-2.0
//
// What earlier processes found out about NVRTC, so that a process whose programs are all compiled
// already need not open it. Believed only while the same file is in its place. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/nvrtc/nvrtc.hpp"

namespace wye::cuda {

// For these names of libraries, asked for in this order. An empty folder remembers nothing.
[[nodiscard]] std::optional<NvrtcFacts> recall_nvrtc(const std::string& folder,
                                                     const std::vector<std::string>& libraries);
void remember_nvrtc(const std::string& folder, const std::vector<std::string>& libraries,
                    const NvrtcFacts& facts);

}  // namespace wye::cuda
