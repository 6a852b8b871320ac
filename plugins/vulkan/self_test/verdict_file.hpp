// SPDX-License-Identifier: Apache-2.0
//
// A self-test's verdict, saved in a file of the cache folder with a checksum
// (wye/sdk/kept_text.hpp), one line for each flag. Any other content counts as no verdict, and the
// test runs again. Any thread, any number of processes.
#pragma once

#include <optional>
#include <string>

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// The key of a verdict, besides the build of this plugin: the driver's build and the device. Names
// and the driver's text are included, since not every driver changes the numbers (lavapipe does
// not); so are the CPU's vector extensions, if the device is the host's CPU.
[[nodiscard]] std::string verdict_key(const DeviceInfo& device);

[[nodiscard]] std::string verdict_text(const Verdict& verdict);
[[nodiscard]] std::optional<Verdict> verdict_of(const std::string& text);

// None: there is no such file, or its content is invalid.
[[nodiscard]] std::optional<Verdict> load_verdict(const std::string& folder,
                                                  const std::string& key);
// Creates the folder, writes a temporary file and renames it. IO names what failed.
[[nodiscard]] Result<void> save_verdict(const std::string& folder, const std::string& key,
                                        const Verdict& verdict);
void drop_verdict(const std::string& folder, const std::string& key) noexcept;

}  // namespace wye::vulkan
