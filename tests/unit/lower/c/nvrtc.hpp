// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, opened at run time, for tests: CUDA C to PTX and machine code. Needs no driver and no
// device. The library stays mapped. Free-threaded.
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
    // Throws std::runtime_error with what the loader says when there is none.
    Library();

    // Numbers of "sm_N" that this NVRTC can compile for, ascending.
    [[nodiscard]] const std::vector<int>& architectures() const { return architectures_; }
    // `options` are space separated.
    [[nodiscard]] Compiled compile(const std::string& source, std::string_view options,
                                   int architecture) const;

  private:
    struct Functions;
    const Functions* functions_;
    std::pair<int, int> version_;  // major, minor
    std::vector<int> architectures_;
};

}  // namespace nvrtc
