// SPDX-License-Identifier: Apache-2.0
//
// The self-test's verdict of each device: loaded from the cache folder, or found when a fact first
// needs it. A loaded one is checked on the device when that is first opened, so that listing
// devices opens none. Free-threaded.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdict.hpp"
#include "wye/sdk/result.hpp"

namespace wye::vulkan {

class Device;
struct Plugin;

class Verdicts {
  public:
    // An empty folder name: nothing is saved.
    Verdicts(std::size_t devices, std::string cache_folder)
        : tested_(devices), cache_folder_(std::move(cache_folder)) {}

    // If the test could not run, everything counts as inexact.
    [[nodiscard]] const Verdict& of(Plugin& plugin, std::uint32_t index);
    // For a device that was opened. DRIVER if facts were given from a loaded verdict that does not
    // hold: it is removed from the folder, and the next process tests the device again.
    [[nodiscard]] Result<void> confirm(Device& opened);

  private:
    struct Tested {
        std::once_flag once, confirmed;
        std::atomic<bool> opened = false;  // before any fact was asked for, perhaps
        std::atomic<bool> loaded = false;
        Verdict verdict;
        std::string doubt;  // after `confirmed`
    };
    // Loads a saved verdict, if the device can have it.
    [[nodiscard]] bool load(const DeviceInfo& info, Tested& out) const;

    std::deque<Tested> tested_;
    const std::string cache_folder_;
};

}  // namespace wye::vulkan
