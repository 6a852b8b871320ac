// SPDX-License-Identifier: Apache-2.0
//
// A one-line progress bar with speed and time left, for work that takes more than two seconds;
// silent unless its stream is a terminal. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace wye::examples {

class Progress {
  public:
    explicit Progress(std::FILE* stream);

    // Starts a bar that counts bytes. If `total` is 0, it is unknown, and only the amount is shown.
    void start(std::string label, std::uint64_t total);
    void advance(std::uint64_t done);
    void finish();  // clears the line

  private:
    std::FILE* stream_;
    bool terminal_;
    bool drawn_ = false;
    std::string label_;
    std::uint64_t total_ = 0;
    std::chrono::steady_clock::time_point begun_, drawn_at_;
};

}  // namespace wye::examples
