// SPDX-License-Identifier: Apache-2.0
//
// Verdicts: the self-test's verdict of each device, loaded from the cache folder, or determined
// when a fact first needs it. A loaded verdict is checked when its device is first opened, so that
// listing devices opens none. Free-threaded.
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
    // Loads and saves nothing if the folder's name is empty.
    Verdicts(std::size_t devices, std::string cache_folder)
        : tested_(devices), cache_folder_(std::move(cache_folder)) {}

    // The verdict of a device. If the test could not run, all arithmetic counts as inexact.
    [[nodiscard]] const Verdict& of(Plugin& plugin, std::uint32_t index);
    // Called for an opened device. DRIVER if facts were given from a loaded verdict that does not
    // hold. The verdict's file is then removed, and the next process tests the device again.
    [[nodiscard]] Result<void> confirm(Device& opened);

  private:
    struct Tested {
        std::once_flag once, confirmed;
        std::atomic<bool> opened = false;  // if so, new verdicts come from a test, not a file
        std::atomic<bool> loaded = false;
        Verdict verdict;
        std::string doubt;  // why the loaded verdict does not hold; empty: it holds
    };
    // Loads a saved verdict, if the self-test of this device could have that result. False: none
    // loaded.
    [[nodiscard]] bool load(const DeviceInfo& info, Tested& out) const;

    std::deque<Tested> tested_;
    const std::string cache_folder_;
};

}  // namespace wye::vulkan
