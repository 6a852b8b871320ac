// SPDX-License-Identifier: Apache-2.0
//
// The driver that a test is about. One executable is run once for each: Meson sets both variables.
#pragma once

#include <cstdlib>
#include <string>

namespace support {

// `WYE_TEST_DRIVER`: a selector such as "vulkan:0". Where it is not set, one that no device has.
inline std::string test_driver() {
    const char* const text = std::getenv("WYE_TEST_DRIVER");
    return text != nullptr ? text : "set_WYE_TEST_DRIVER:0";
}

// `WYE_TEST_DRIVER_FOLDER`: where its plugin was built.
inline std::string test_driver_folder() {
    const char* const text = std::getenv("WYE_TEST_DRIVER_FOLDER");
    return text != nullptr ? text : "";
}

}  // namespace support
