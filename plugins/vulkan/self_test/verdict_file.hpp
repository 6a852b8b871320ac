// SPDX-License-Identifier: Apache-2.0
//
// A self-test's verdict, remembered in a file of the cache folder with a checksum
// (wye/sdk/kept_text.hpp): one line for each flag. A file that is not exactly that is no verdict,
// and the test runs again. Any thread, any number of processes.
#pragma once

#include <optional>
#include <string>

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// What a verdict holds for beside the build of this plugin: the driver's build and the device.
// Names and the driver's own text are part of it, since not every driver changes the numbers
// (lavapipe changes neither); so are, for a device that is the host's CPU, the vectors that this
// one has.
[[nodiscard]] std::string verdict_key(const DeviceInfo& device);

[[nodiscard]] std::string verdict_text(const Verdict& verdict);
[[nodiscard]] std::optional<Verdict> verdict_of(const std::string& text);

// None: there is no such file, or it holds something else.
[[nodiscard]] std::optional<Verdict> load_verdict(const std::string& folder,
                                                  const std::string& key);
// Makes the folder, writes a private file and renames it into place. IO says what failed.
[[nodiscard]] Result<void> save_verdict(const std::string& folder, const std::string& key,
                                        const Verdict& verdict);
void drop_verdict(const std::string& folder, const std::string& key) noexcept;

}  // namespace wye::vulkan
