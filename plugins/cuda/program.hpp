// SPDX-License-Identifier: Apache-2.0
//
// One loaded kernel. Building and launching are free-threaded: a launch keeps its arguments on the
// stack, and the driver copies them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.hpp"

namespace wye::cuda {

class BuiltProgram {
  public:
    // From cuda-c, cubin or ptx. COMPILE_FAILED carries the compiler's log.
    [[nodiscard]] static Result<std::unique_ptr<BuiltProgram>> build(OpenDevice& device,
                                                                     const wye_artifact& artifact);
    // From what `image` gave. UNSUPPORTED when this device does not take it.
    [[nodiscard]] static Result<std::unique_ptr<BuiltProgram>> load(OpenDevice& device,
                                                                    const wye_artifact& artifact,
                                                                    wye_bytes saved);
    ~BuiltProgram();
    BuiltProgram(const BuiltProgram&) = delete;
    BuiltProgram& operator=(const BuiltProgram&) = delete;

    // Queues the kernel; returns before it runs. With the context current.
    [[nodiscard]] Result<void> launch(CUstream stream, const wye_dispatch_op& op) const;

    // What was loaded: a cubin, or PTX where the device is newer than NVRTC.
    [[nodiscard]] const std::vector<std::byte>& image() const { return image_; }

  private:
    explicit BuiltProgram(OpenDevice& device) : device_(device), epoch_(device.epoch()) {}
    Result<void> load_image(const wye_artifact& artifact);

    OpenDevice& device_;
    const std::uint32_t epoch_;
    std::vector<std::byte> image_;
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    std::string label_;
    std::vector<wye_slot> slots_;
    std::array<unsigned, 3> workgroup_ = {1, 1, 1};
    unsigned dynamic_shared_ = 0;
    bool has_grid_ = false;
};

// Artifact code in another format, without a driver: cuda-c to cubin or ptx. An architecture may
// be named in the artifact's options ("--gpu-architecture=sm_90"), else `device` (may be null) says
// it, else PTX is for the oldest one known.
[[nodiscard]] Result<std::vector<std::byte>> translate(Plugin& plugin, const Device* device,
                                                       const wye_artifact& artifact,
                                                       std::string_view format);

[[nodiscard]] inline BuiltProgram& program_of(wye_program_object* object) {
    return *reinterpret_cast<BuiltProgram*>(object);
}

}  // namespace wye::cuda
