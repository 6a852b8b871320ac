// SPDX-License-Identifier: Apache-2.0
//
// A buffer over memory of the application, by VK_EXT_external_memory_host.
#pragma once

#include <memory>

#include "vulkan/buffer.hpp"

namespace wye::vulkan {

// For copies. UNSUPPORTED if the driver takes no such memory.
[[nodiscard]] Result<std::unique_ptr<Buffer>> register_memory(Device& device,
                                                              const wye_buffer_desc& desc);

}  // namespace wye::vulkan
