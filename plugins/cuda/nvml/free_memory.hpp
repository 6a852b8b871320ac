// SPDX-License-Identifier: Apache-2.0
//
// Reads the free memory of devices from NVML, the driver's management library. CUDA reports free
// memory only to a process with a context, and a context itself takes device memory. NVML is opened
// at run time, and optional.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/discovery.hpp"

namespace wye::cuda {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Sets `free_bytes` of the devices that NVML knows by their PCI address. A device for which NVML
// reports another total is part of a divided GPU (MIG), and keeps 0. Without NVML, all devices keep
// 0.
void add_free_memory(const std::string& library, std::vector<DeviceInfo>& devices);

}  // namespace wye::cuda
