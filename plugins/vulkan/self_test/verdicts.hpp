// SPDX-License-Identifier: Apache-2.0
//
// The self-test's verdict of each device: loaded from the cache folder, or found when a fact first
// needs it. Free-threaded.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

struct Plugin;

class Verdicts {
  public:
    // An empty folder name: nothing is saved.
    Verdicts(std::size_t devices, std::string cache_folder)
        : tested_(devices), cache_folder_(std::move(cache_folder)) {}

    // If the test could not run, everything counts as inexact.
    [[nodiscard]] const Verdict& of(Plugin& plugin, std::uint32_t index);

  private:
    struct Tested {
        std::once_flag once;
        Verdict verdict;
    };
    // Loads a saved verdict, if it still holds.
    [[nodiscard]] bool recall(Plugin& plugin, std::uint32_t index, Verdict& out) const;

    std::deque<Tested> tested_;
    const std::string cache_folder_;
};

}  // namespace wye::vulkan
