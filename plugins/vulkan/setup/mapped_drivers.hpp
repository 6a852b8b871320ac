// SPDX-License-Identifier: Apache-2.0
//
// Keeps the libraries of Vulkan drivers mapped. The Vulkan loader maps them with an instance and
// unmaps them with it. Thread-safe.
#pragma once

namespace wye::vulkan {

// Keeps the libraries that are mapped now until the process ends; a second call changes nothing.
// Misses a library that another thread unmaps meanwhile.
void keep_drivers_mapped();

}  // namespace wye::vulkan
