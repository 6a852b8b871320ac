// SPDX-License-Identifier: Apache-2.0
//
// Facts about NVRTC that earlier processes saved, so that a process whose programs are all compiled
// need not open it. Used only while the file is unchanged. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/nvrtc/nvrtc.hpp"

namespace wye::cuda {

// For these library names, in this order. With an empty folder name nothing is saved.
[[nodiscard]] std::optional<NvrtcFacts> recall_nvrtc(const std::string& folder,
                                                     const std::vector<std::string>& libraries);
void remember_nvrtc(const std::string& folder, const std::vector<std::string>& libraries,
                    const NvrtcFacts& facts);

}  // namespace wye::cuda
