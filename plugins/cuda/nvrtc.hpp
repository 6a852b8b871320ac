// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, opened at run time: CUDA C to machine code or PTX. Needs neither driver nor device. The
// library stays mapped. Free-threaded.
#pragma once

#include <nvrtc.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::cuda {

// X(name): in every NVRTC from 11.2 on.
#define WYE_NVRTC_SYMBOLS(X)     \
    X(nvrtcVersion)              \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcCreateProgram)        \
    X(nvrtcDestroyProgram)       \
    X(nvrtcCompileProgram)       \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetProgramLog)        \
    X(nvrtcGetPTXSize)           \
    X(nvrtcGetPTX)               \
    X(nvrtcGetCUBINSize)         \
    X(nvrtcGetCUBIN)

enum class Target : std::uint8_t { Cubin, Ptx };

class Nvrtc {
  public:
    // The first of `libraries` that opens. MISSING_DEPENDENCY names them all.
    [[nodiscard]] static Result<std::unique_ptr<const Nvrtc>> open(
        const std::vector<std::string>& libraries);

    // N of the "sm_N" that it compiles for, ascending.
    [[nodiscard]] const std::vector<int>& architectures() const { return architectures_; }
    [[nodiscard]] bool knows(int architecture) const;
    // The newest that code for `architecture` may be made from; empty: all are newer.
    [[nodiscard]] std::optional<int> newest_up_to(int architecture) const;
    [[nodiscard]] const std::string& version() const { return version_; }

    // PTX is text without a terminator. COMPILE_FAILED carries the log as its cause, and the first
    // complaint with its line as the sentence.
    [[nodiscard]] Result<std::vector<std::byte>> compile(std::string_view source,
                                                         std::string_view options, int architecture,
                                                         Target target,
                                                         const std::string& label) const;

  private:
    Nvrtc() = default;
#define WYE_NVRTC_MEMBER(name) decltype(&::name) name = nullptr;
    WYE_NVRTC_SYMBOLS(WYE_NVRTC_MEMBER)
#undef WYE_NVRTC_MEMBER
    std::vector<int> architectures_;
    std::string version_;
};

}  // namespace wye::cuda
