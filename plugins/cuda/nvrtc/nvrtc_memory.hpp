// SPDX-License-Identifier: Apache-2.0
//
// Stores facts about NVRTC between processes, so that a process that finds all its programs in
// the cache need not open the library. Stored facts are used only while the library file is
// unchanged. Free-threaded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/nvrtc/nvrtc.hpp"

namespace wye::cuda {

// Returns the facts that were saved for exactly this list of library names. If the folder's name is
// empty, nothing is saved.
[[nodiscard]] std::optional<NvrtcFacts> recall_nvrtc(const std::string& folder,
                                                     const std::vector<std::string>& libraries);
void remember_nvrtc(const std::string& folder, const std::vector<std::string>& libraries,
                    const NvrtcFacts& facts);

}  // namespace wye::cuda
