// SPDX-License-Identifier: Apache-2.0
//
// `discover` lists the devices by ordinal, with their properties, and creates no context. The probe
// makes the list once. From then on the list is immutable, and any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver.hpp"
#include "wye/sdk/device_info.hpp"

namespace wye::cuda {

struct DeviceInfo : sdk::DeviceInfo {
    CUdevice id = 0;
    std::string isa, api_version, driver_version;
    std::string pci_address, uuid;  // empty if not reported

    int architecture = 0;  // such as 90 for compute capability 9.0
    std::uint64_t memory_bytes = 0;
    std::array<std::uint64_t, 3> max_workgroup = {1, 1, 1}, max_groups = {1, 1, 1};
    std::uint64_t max_invocations = 1, shared_bytes = 0, compute_units = 0, clock_khz = 0;
    std::uint64_t l2_bytes = 0, memory_clock_khz = 0, memory_bus_bits = 0, warp = 0;
    std::uint64_t free_bytes = 0;  // at the time of the probe; 0: unknown
    // Engines that copy while kernels run; 0: none, or not reported.
    std::uint64_t copy_engines = 0;
    std::uint64_t f32_to_f64_rate = 0;
    bool integrated = false, memory_pools = false, cooperative = false;
    std::uint64_t page_bytes = 0;  // unit of page-locking; 0: memory cannot be page-locked

    // The CUDA programming guide guarantees that allocations begin at multiples of 256 bytes.
    [[nodiscard]] std::uint64_t most_alignment() const { return 256; }
    // The driver locks whole pages, so two registrations must not share a page.
    [[nodiscard]] std::uint64_t host_memory_alignment() const { return page_bytes; }
};

// Error: NO_DEVICE if the driver reports no device.
[[nodiscard]] Result<std::vector<DeviceInfo>> discover(const Driver& driver);

// Writes one fact of the table in wye/abi.h.
[[nodiscard]] wye_status fact(const DeviceInfo& device, std::uint32_t key, wye_fact& out);

}  // namespace wye::cuda
