// SPDX-License-Identifier: Apache-2.0
//
// A one-line progress bar; silent unless its stream is a terminal. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace wye::examples {

class Progress {
  public:
    explicit Progress(std::FILE* stream);

    // Starts a bar, in bytes. If `total` is 0, it is unknown, and only the amount is shown.
    void start(std::string label, std::uint64_t total);
    void advance(std::uint64_t done);
    void finish();  // clears the line

  private:
    std::FILE* stream_;
    bool terminal_;
    bool drawn_ = false;
    std::string label_;
    std::uint64_t total_ = 0;
};

}  // namespace wye::examples
