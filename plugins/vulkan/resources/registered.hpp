// SPDX-License-Identifier: Apache-2.0
//
// Makes buffers over application memory, with VK_EXT_external_memory_host.
#pragma once

#include <memory>

#include "vulkan/buffer.hpp"

namespace wye::vulkan {

// The buffer can only be copied from and to. UNSUPPORTED: the driver does not accept this memory.
[[nodiscard]] Result<std::unique_ptr<Buffer>> register_memory(Device& device,
                                                              const wye_buffer_desc& desc);

}  // namespace wye::vulkan
