// SPDX-License-Identifier: Apache-2.0
//
// Free memory of a device by NVML, the driver's management library: CUDA tells it only to a process
// that has a context, which takes memory of the device itself. Opened at run time; optional.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/discovery.hpp"

namespace wye::cuda {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Fills in `free_bytes` of the devices that NVML knows by their PCI address. A device whose memory
// NVML counts otherwise is part of a divided one (MIG), and keeps 0. Without NVML all do.
void add_free_memory(const std::string& library, std::vector<DeviceInfo>& devices);

}  // namespace wye::cuda
