// SPDX-License-Identifier: Apache-2.0
//
// Stores facts about NVRTC between processes, so that a process whose programs are all compiled
// need not open it. They are used only while the library file is unchanged. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/nvrtc/nvrtc.hpp"

namespace wye::cuda {

// Returns the saved facts for these library names, in this order. If the folder's name is empty,
// nothing is saved.
[[nodiscard]] std::optional<NvrtcFacts> recall_nvrtc(const std::string& folder,
                                                     const std::vector<std::string>& libraries);
void remember_nvrtc(const std::string& folder, const std::vector<std::string>& libraries,
                    const NvrtcFacts& facts);

}  // namespace wye::cuda
