// SPDX-License-Identifier: Apache-2.0
//
// The libraries of Vulkan drivers in this process. The Vulkan loader maps them with an instance and
// unmaps them with it. Thread-safe.
#pragma once

namespace wye::vulkan {

// Keeps the libraries that are mapped now until the process ends; a second call changes nothing.
// A library that another thread unmaps meanwhile is passed over.
void keep_drivers_mapped();

}  // namespace wye::vulkan
