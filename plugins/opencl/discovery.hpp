// SPDX-License-Identifier: Apache-2.0
//
// `discover` lists the devices of all platforms, in the loader's order, with their properties, and
// creates no context. The probe makes the list once. From then on the list is immutable, and any
// thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opencl/driver.hpp"
#include "wye/sdk/device_info.hpp"

namespace wye::opencl {

class F64Rate;

struct DeviceInfo : sdk::DeviceInfo {
    cl_platform_id platform = nullptr;
    cl_device_id id = nullptr;

    std::string vendor, driver_version, platform_name, version, kind, extensions;
    std::string pci_address, uuid, luid;  // empty: not reported
    std::string conformance;              // empty: not reported
    cl_uint vendor_id = 0;
    std::uint64_t free_bytes = 0;  // at the time of the probe; 0: unknown

    cl_device_fp_config single_config = 0, double_config = 0;
    std::array<std::size_t, 3> max_workgroup = {1, 1, 1};
    std::size_t max_invocations = 1, max_parameter_bytes = 0;
    cl_ulong local_bytes = 0, max_alloc_bytes = 0, memory_bytes = 0;
    cl_uint base_alignment_bits = 0, address_bits = 0, compute_units = 0, clock_mhz = 0;
    bool unified_memory = false;
    bool full_profile = true;
    std::shared_ptr<F64Rate> f64_rate;  // set by the probe

    [[nodiscard]] bool has_extension(std::string_view extension) const;
    [[nodiscard]] std::uint64_t most_alignment() const { return base_alignment_bits / 8; }
    [[nodiscard]] bool has_f64() const { return double_config != 0; }
    [[nodiscard]] bool rounds_f32_division() const {
        return (single_config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    }
};

// Environment variables of the process that affect the quirks of PoCL, as the host passed them.
// nullopt: the host passed no variable of this name.
struct Surroundings {
    std::optional<std::string> pocl_cache_dir;  // POCL_CACHE_DIR
    std::optional<std::string> path;            // PATH
    std::optional<std::string> cache_home;      // XDG_CACHE_HOME
    std::optional<std::string> home;            // HOME
};

// Quirk pocl-file-mask: UNSUPPORTED if the process has a file mode mask with which PoCL can build
// no program. No error for other masks and other platforms.
[[nodiscard]] std::optional<Error> refuses_file_mask(std::string_view platform_name);

// NO_DEVICE if there is no platform, or no platform has a device.
[[nodiscard]] Result<std::vector<DeviceInfo>> discover(const Driver& driver,
                                                       const Surroundings& surroundings);

// Writes one fact of the table in wye/abi.h.
[[nodiscard]] wye_status fact(const DeviceInfo& device, std::uint32_t key, wye_fact& out);

}  // namespace wye::opencl
