// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml/free_memory.hpp"

#include "wye/sdk/library.hpp"

namespace wye::cuda {
namespace {

// Types and values of the NVML API reference, the same in all its versions.
using NvmlDevice = void*;
constexpr unsigned kSuccess = 0;
constexpr unsigned kNoGpus = 1;  // nvmlInitWithFlags attaches to no GPU; each look-up does

struct Nvml {
    unsigned (*nvmlInitWithFlags)(unsigned flags) = nullptr;
    unsigned (*nvmlShutdown)() = nullptr;
    unsigned (*nvmlDeviceGetHandleByPciBusId_v2)(const char* address, NvmlDevice* out) = nullptr;
    unsigned (*nvmlDeviceGetMemoryInfo)(NvmlDevice device, unsigned long long* out) = nullptr;
};

// Whether the totals of NVML and CUDA describe the same memory. CUDA's total excludes the memory
// that the driver reserves.
bool same_memory(std::uint64_t nvml, std::uint64_t cuda) {
    return nvml >= cuda && nvml - cuda <= cuda / 8;
}

}  // namespace

void add_free_memory(const std::string& library, std::vector<DeviceInfo>& devices) {
    const auto handle = sdk::open_library(library, "NVML", "Fix: install the NVIDIA driver");
    if (!handle.ok()) return;
    Nvml nvml;
    sdk::Functions functions([&](const char* name) { return sdk::symbol_in(*handle, name); });
    functions.get(nvml.nvmlInitWithFlags, "nvmlInitWithFlags");
    functions.get(nvml.nvmlShutdown, "nvmlShutdown");
    functions.get(nvml.nvmlDeviceGetHandleByPciBusId_v2, "nvmlDeviceGetHandleByPciBusId_v2");
    functions.get(nvml.nvmlDeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo");
    if (functions.missing() != nullptr || nvml.nvmlInitWithFlags(kNoGpus) != kSuccess) return;
    for (DeviceInfo& device : devices) {
        NvmlDevice found = nullptr;
        unsigned long long memory[3] = {};  // bytes: total, free, used
        if (nvml.nvmlDeviceGetHandleByPciBusId_v2(device.pci_address.c_str(), &found) == kSuccess &&
            nvml.nvmlDeviceGetMemoryInfo(found, memory) == kSuccess &&
            same_memory(memory[0], device.memory_bytes))
            device.free_bytes = memory[1];
    }
    nvml.nvmlShutdown();
}

}  // namespace wye::cuda
