// SPDX-License-Identifier: Apache-2.0
//
// Nvrtc: the NVRTC library, opened at run time, which compiles CUDA C to machine code or PTX. Needs
// neither driver nor device. The library stays mapped. Free-threaded.
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

// X(name): the functions used, which NVRTC 11.2 and newer have.
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

// Facts about an NVRTC library. The facts are saved, because opening the library takes 50 ms.
struct NvrtcFacts {
    std::string version;
    std::vector<int> architectures;  // supported N of "sm_N", ascending
    std::string file;                // path, size and time; empty if not known
    [[nodiscard]] std::string identity() const { return "NVRTC " + version + " " + file; }
    // Returns the newest supported architecture up to `architecture`, or nothing if all supported
    // architectures are newer.
    [[nodiscard]] std::optional<int> newest_up_to(int architecture) const;
};

// Returns a stamp that changes when the file is replaced, or an empty text if there is no such
// file.
[[nodiscard]] std::string file_stamp(const std::string& path);

class Nvrtc {
  public:
    // Opens the first of `libraries` that can be opened. Error: MISSING_DEPENDENCY, which names all
    // of them.
    [[nodiscard]] static Result<std::unique_ptr<const Nvrtc>> open(
        const std::vector<std::string>& libraries);

    [[nodiscard]] const NvrtcFacts& facts() const { return facts_; }
    [[nodiscard]] const std::vector<int>& architectures() const { return facts_.architectures; }
    [[nodiscard]] bool knows(int architecture) const;
    [[nodiscard]] const std::string& version() const { return facts_.version; }

    // Compiles the source. Drops the option `--minimal` if this NVRTC does not accept it. The
    // returned PTX has no terminating zero. Error: COMPILE_FAILED, whose message is the first
    // diagnostic with its source line, and whose cause is the log.
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
