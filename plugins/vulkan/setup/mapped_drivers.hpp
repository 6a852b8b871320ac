// SPDX-License-Identifier: Apache-2.0
//
// Keeps the libraries of Vulkan drivers mapped. The Vulkan loader maps the libraries when an
// instance is created, and unmaps them when the instance is destroyed. Free-threaded.
#pragma once

namespace wye::vulkan {

// Lets the driver libraries that are mapped at this time stay mapped until the process ends. Misses
// a library that another thread unmaps during the call.
void keep_drivers_mapped();

}  // namespace wye::vulkan
