// SPDX-License-Identifier: Apache-2.0
//
// The driver under test. Meson runs one executable once for each driver and sets both variables.
#pragma once

#include <cstdlib>
#include <string>

namespace support {

// `WYE_TEST_DRIVER`: a selector such as "vulkan:0". If unset, one that matches no device.
inline std::string test_driver() {
    const char* const text = std::getenv("WYE_TEST_DRIVER");
    return text != nullptr ? text : "set_WYE_TEST_DRIVER:0";
}

// `WYE_TEST_DRIVER_FOLDER`: the folder of its plugin.
inline std::string test_driver_folder() {
    const char* const text = std::getenv("WYE_TEST_DRIVER_FOLDER");
    return text != nullptr ? text : "";
}

}  // namespace support
