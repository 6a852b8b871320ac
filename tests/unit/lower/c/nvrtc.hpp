// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, opened at run time, for tests: compiles CUDA C to PTX and to machine code. Needs no driver
// and no device. The library stays mapped. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvrtc {

struct Compiled {
    bool ok = false;
    std::string ptx, log;
    std::size_t cubin_bytes = 0;
};

class Library {
  public:
    // Throws std::runtime_error with the loader's message if there is no NVRTC.
    Library();

    // The architectures that this NVRTC can compile for, ascending: 90 stands for "sm_90".
    [[nodiscard]] const std::vector<int>& architectures() const { return architectures_; }
    // `options` are separated by spaces.
    [[nodiscard]] Compiled compile(const std::string& source, std::string_view options,
                                   int architecture) const;

  private:
    struct Functions;
    const Functions* functions_;
    std::pair<int, int> version_;  // major, minor
    std::vector<int> architectures_;
};

}  // namespace nvrtc
