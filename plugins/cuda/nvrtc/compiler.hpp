// SPDX-License-Identifier: Apache-2.0
//
// Which NVRTC the plugin uses, opened when it is first needed, and CUDA C made into code by it.
// Needs neither driver nor device. Free-threaded, but for prefer_for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/nvrtc/nvrtc.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::cuda {

class Compiler {
  public:
    explicit Compiler(const wye_host_table& host) : host_(host) {}

    // The driver's CUDA version, before anything is compiled: one of CUDA 12 may refuse the code of
    // NVRTC 13.
    void prefer_for(int driver_version) { driver_version_ = driver_version; }

    // Name and version, from memory where an earlier process left it; lives as long as this.
    [[nodiscard]] Result<std::string_view> identity();
    // Why CUDA C cannot become code for the architecture (90: sm_90); empty: it can.
    [[nodiscard]] std::string refusal(int architecture);

    // Machine code where NVRTC knows the architecture exactly, else PTX for an older one.
    [[nodiscard]] Result<std::vector<std::byte>> compile(const wye_artifact& artifact,
                                                         int architecture,
                                                         const std::string& device,
                                                         const std::string& label);
    // cuda-c to cubin or ptx. An architecture may be named in the artifact's options
    // ("--gpu-architecture=sm_90"), else `architecture` (0: none) counts, else PTX is for the
    // oldest one known.
    [[nodiscard]] Result<std::vector<std::byte>> translate(int architecture,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

  private:
    // Opened once; the outcome is remembered.
    Result<const Nvrtc*> nvrtc();
    // What NVRTC is, remembered or opened.
    Result<const NvrtcFacts*> facts();
    // Names to try, in this order.
    [[nodiscard]] std::vector<std::string> libraries() const;
    [[nodiscard]] std::string cache_folder() const;

    const wye_host_table& host_;
    int driver_version_ = 0;  // 0: not known
    std::once_flag nvrtc_once_;
    std::unique_ptr<const Nvrtc> nvrtc_;
    std::optional<Error> nvrtc_error_;
    std::once_flag facts_once_;
    std::optional<NvrtcFacts> facts_;
    std::string identity_;
};

}  // namespace wye::cuda
