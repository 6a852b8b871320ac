// SPDX-License-Identifier: Apache-2.0
//
// The driver under test. Meson runs one test executable once for each driver, and sets these
// environment variables.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace support {

// `WYE_TEST_DRIVER`: a selector such as "vulkan:0". If unset, a selector that matches no device.
inline std::string test_driver() {
    const char* const text = std::getenv("WYE_TEST_DRIVER");
    return text != nullptr ? text : "set_WYE_TEST_DRIVER:0";
}

// `WYE_TEST_DRIVER_FOLDER`: the folder of the driver's plugin.
inline std::string test_driver_folder() {
    const char* const text = std::getenv("WYE_TEST_DRIVER_FOLDER");
    return text != nullptr ? text : "";
}

// `WYE_TEST_DRIVER_LIBRARY`: the library that the plugin opens as its driver; unset: the plugin
// chooses. Returns the configuration that selects the library, which is a fake driver, and turns
// the probe off: a probe would find that a fake driver computes nothing.
inline std::vector<std::pair<std::string, std::string>> test_driver_config() {
    const char* const library = std::getenv("WYE_TEST_DRIVER_LIBRARY");
    if (library == nullptr) return {};
    const std::string driver = test_driver();
    return {{driver.substr(0, driver.find(':')) + ".library", library}, {"probe.mode", "off"}};
}

// Whether the driver runs programs. A fake driver only records launches.
inline bool test_driver_computes() { return std::getenv("WYE_TEST_DRIVER_LIBRARY") == nullptr; }

}  // namespace support
