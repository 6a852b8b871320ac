// SPDX-License-Identifier: Apache-2.0
//
// Converts VkResult values to codes and errors. Pure.
#pragma once

#include <string_view>

#include "vulkan/driver.hpp"

namespace wye::vulkan {

struct Status {
    Code code;
    std::string_view name;  // such as "VK_ERROR_DEVICE_LOST"
};
[[nodiscard]] Status status_of(VkResult value);

// The error of a failed call: "`call` on `subject` failed: NAME (value)", with a remedy.
[[nodiscard]] Error native_error(VkResult value, std::string_view call, std::string_view subject);

}  // namespace wye::vulkan
