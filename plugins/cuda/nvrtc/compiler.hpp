// SPDX-License-Identifier: Apache-2.0
//
// Compiler: chooses an NVRTC library, opens it on first use, and compiles CUDA C with it. Needs
// neither driver nor device. Free-threaded, except for `prefer_for`.
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

    // Sets the driver's CUDA version, which decides which NVRTC is tried first: a driver of CUDA 12
    // may refuse the code of NVRTC 13. To be called before anything is compiled.
    void prefer_for(int driver_version) { driver_version_ = driver_version; }

    // Returns NVRTC's name and version, taken from the cache folder if an earlier process saved
    // them. Valid while this object lives.
    [[nodiscard]] Result<std::string_view> identity();
    // Returns why CUDA C cannot be compiled for the architecture (90 is sm_90), or an empty text if
    // it can.
    [[nodiscard]] std::string refusal(int architecture);

    // Compiles to machine code if NVRTC supports exactly this architecture, else to PTX for an
    // older one.
    [[nodiscard]] Result<std::vector<std::byte>> compile(const wye_artifact& artifact,
                                                         int architecture,
                                                         const std::string& device,
                                                         const std::string& label);
    // Translates cuda-c to cubin or ptx, for the architecture that the artifact's options name
    // ("--gpu-architecture=sm_90"). If the options name none, `architecture` is used. If
    // `architecture` is 0, PTX is for the oldest one that NVRTC supports, and cubin is refused.
    [[nodiscard]] Result<std::vector<std::byte>> translate(int architecture,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

  private:
    // Opens NVRTC once, and keeps the result even if it fails.
    Result<const Nvrtc*> nvrtc();
    // Returns NVRTC's facts: the saved ones, else those of the opened library.
    Result<const NvrtcFacts*> facts();
    // Returns the names of the libraries to try, in order.
    [[nodiscard]] std::vector<std::string> libraries() const;
    [[nodiscard]] std::string cache_folder() const;

    const wye_host_table& host_;
    int driver_version_ = 0;  // 0 if not known
    std::once_flag nvrtc_once_;
    std::unique_ptr<const Nvrtc> nvrtc_;
    std::optional<Error> nvrtc_error_;
    std::once_flag facts_once_;
    std::optional<NvrtcFacts> facts_;
    std::string identity_;
};

}  // namespace wye::cuda
