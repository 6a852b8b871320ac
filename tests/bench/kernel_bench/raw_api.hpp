// SPDX-License-Identifier: Apache-2.0
//
// RawApi: the hand-written side of the benchmark, a thin layer over one API. Used by one thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernel_bench/cases.hpp"
#include "wye/sdk/result.hpp"

namespace wye::bench {

class RawApi {
  public:
    using Id = std::size_t;

    RawApi() = default;
    RawApi(const RawApi&) = delete;
    RawApi& operator=(const RawApi&) = delete;
    virtual ~RawApi() = default;

    [[nodiscard]] virtual Result<Id> buffer(std::uint64_t bytes) = 0;
    [[nodiscard]] virtual Result<void> upload(Id buffer, std::uint64_t offset,
                                              std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual Result<void> download(Id buffer, std::uint64_t offset,
                                                std::span<std::byte> bytes) = 0;

    // Compiles the kernel of `launch`. `fast` allows contraction and approximate division.
    [[nodiscard]] virtual Result<Id> compile(const Launch& launch, std::size_t buffers,
                                             bool fast) = 0;

    // Compiles and loads text or SPIR-V that Wye has lowered, and discards the result.
    [[nodiscard]] virtual Result<void> build(const std::string& source) = 0;

    // Zeroes the buffers in `zeroed`, launches the kernel and waits. Returns nanoseconds of the
    // driver's clock.
    [[nodiscard]] virtual Result<double> run(Id kernel, const Launch& launch,
                                             std::span<const Id> buffers,
                                             std::span<const Id> zeroed) = 0;

    // Frees all buffers and kernels.
    virtual void clear() = 0;
};

// Each function opens the device with the name `device`, as Wye prints the name.
// MISSING_DEPENDENCY: the API is not installed.
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_cuda(const std::string& device);
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_opencl(const std::string& device);
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_vulkan(const std::string& device);

}  // namespace wye::bench
