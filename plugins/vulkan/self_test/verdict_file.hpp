// SPDX-License-Identifier: Apache-2.0
//
// Loads and saves a self-test's verdict: a file in the cache folder with a checksum
// (wye/sdk/kept_text.hpp), and one line for each flag and number. Any other content counts as no
// verdict, so the test runs again. Usable from any thread and any number of processes.
#pragma once

#include <optional>
#include <string>

#include "vulkan/discovery.hpp"
#include "vulkan/self_test/verdict.hpp"

namespace wye::vulkan {

// The key of a verdict: the driver's build and the device. (kept_text.hpp adds the plugin's build.)
// Names and the driver's text are included, since not every driver changes its version number
// (lavapipe does not). If the device is the host's CPU, the CPU's vector extensions are included.
[[nodiscard]] std::string verdict_key(const DeviceInfo& device);

[[nodiscard]] std::string verdict_text(const Verdict& verdict);
[[nodiscard]] std::optional<Verdict> verdict_of(const std::string& text);

// Loads a verdict. Returns nothing if there is no such file, or its content is invalid.
[[nodiscard]] std::optional<Verdict> load_verdict(const std::string& folder,
                                                  const std::string& key);
// Saves a verdict: creates the folder, writes a temporary file and renames it. The error IO says
// which step failed.
[[nodiscard]] Result<void> save_verdict(const std::string& folder, const std::string& key,
                                        const Verdict& verdict);
void drop_verdict(const std::string& folder, const std::string& key) noexcept;

}  // namespace wye::vulkan
