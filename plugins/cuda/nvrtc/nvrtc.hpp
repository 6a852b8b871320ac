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

// What is known of an NVRTC without opening it, which takes 50 ms.
struct NvrtcFacts {
    std::string version;
    std::vector<int> architectures;  // N of the "sm_N" that it compiles for, ascending
    std::string file;                // path, size and time; empty: not known
    [[nodiscard]] std::string identity() const { return "NVRTC " + version + " " + file; }
    // The newest that code for `architecture` may be made from; empty: all are newer.
    [[nodiscard]] std::optional<int> newest_up_to(int architecture) const;
};

// Tells one file from what stands in its place later; empty: it is not there.
[[nodiscard]] std::string file_stamp(const std::string& path);

class Nvrtc {
  public:
    // The first of `libraries` that opens. MISSING_DEPENDENCY names them all.
    [[nodiscard]] static Result<std::unique_ptr<const Nvrtc>> open(
        const std::vector<std::string>& libraries);

    [[nodiscard]] const NvrtcFacts& facts() const { return facts_; }
    [[nodiscard]] const std::vector<int>& architectures() const { return facts_.architectures; }
    [[nodiscard]] bool knows(int architecture) const;
    [[nodiscard]] const std::string& version() const { return facts_.version; }

    // `--minimal` is left out where this NVRTC does not know it; other options are as given.
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
    NvrtcFacts facts_;
    bool knows_minimal_ = false;
};

}  // namespace wye::cuda
