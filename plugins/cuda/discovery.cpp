// SPDX-License-Identifier: Apache-2.0
#include "cuda/discovery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>

#include "cuda/status.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::cuda {
namespace {

constexpr int kOldestArchitecture = 60;  // the oldest architecture with an atomic add of f64

// Returns the version of the loaded kernel module, such as "580.159", which the driver's API does
// not report.
std::string module_version() {
    // quirk cuda-module-version.
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        const std::size_t digits = word.find_first_not_of("0123456789");
        if (digits != 0 && digits != std::string::npos && word[digits] == '.') return word;
    }
    return {};
}

class Asking {
  public:
    Asking(const Driver& driver, CUdevice id) : driver_(driver), id_(id) {}

    // Returns 0 if the query fails.
    std::uint64_t operator()(CUdevice_attribute what) const {
        int value = 0;
        if (driver_.cuDeviceGetAttribute(&value, what, id_) != CUDA_SUCCESS || value < 0) return 0;
        return static_cast<std::uint64_t>(value);
    }

  private:
    const Driver& driver_;
    CUdevice id_;
};

DeviceInfo describe(const Driver& driver, int ordinal) {
    DeviceInfo d;
    const std::string which = "device " + std::to_string(ordinal);
    if (const CUresult status = driver.cuDeviceGet(&d.id, ordinal); status != CUDA_SUCCESS) {
        const Error error = native_error(driver, status, "cuDeviceGet", which);
        d.name = which;
        d.reason = error.message;
        d.fix = error.fix;
        d.native_code = status;
        return d;
    }
    const Asking ask(driver, d.id);
    char name[256] = {};
    if (driver.cuDeviceGetName(name, sizeof name - 1, d.id) == CUDA_SUCCESS) d.name = name;
    std::size_t bytes = 0;
    if (driver.cuDeviceTotalMem(&bytes, d.id) == CUDA_SUCCESS) d.memory_bytes = bytes;
    CUuuid uuid{};
    if (driver.cuDeviceGetUuid(&uuid, d.id) == CUDA_SUCCESS)
        d.uuid = sdk::hex_of(std::as_bytes(std::span(uuid.bytes)));
    char pci[48];
    std::snprintf(pci, sizeof pci, "%04x:%02x:%02x.0",
                  static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)),
                  static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)),
                  static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)));
    d.pci_address = pci;
    const auto major = static_cast<int>(ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    const auto minor = static_cast<int>(ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    d.architecture = major * 10 + minor;
    d.isa = "sm_" + std::to_string(d.architecture);
    d.api_version = "CUDA " + std::to_string(driver.version / 1000) + "." +
                    std::to_string(driver.version % 1000 / 10);
    d.max_workgroup = {ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                       ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                       ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
    d.max_groups = {ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                    ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                    ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
    d.max_invocations = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    d.shared_bytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (d.shared_bytes == 0) d.shared_bytes = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    d.compute_units = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d.clock_khz = ask(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    d.l2_bytes = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    d.memory_clock_khz = ask(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    d.memory_bus_bits = ask(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    d.copy_engines = ask(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    d.f32_to_f64_rate = ask(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
    d.warp = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    d.integrated = ask(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    d.memory_pools = ask(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
    d.cooperative = ask(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
    if (ask(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) != 0)
        d.page_bytes = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
    if (d.architecture < kOldestArchitecture) {
        d.reason = "compute capability " + std::to_string(major) + "." + std::to_string(minor) +
                   " is older than 6.0, the oldest that Wye supports";
        d.fix = "Fix: use another device, or this one through OpenCL";
    } else if (ask(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED) {
        d.reason = "the administrator prohibits computing on this device";
        d.fix = "Fix: `nvidia-smi --compute-mode=DEFAULT`, as root";
    }
    return d;
}

}  // namespace

Result<std::vector<DeviceInfo>> discover(const Driver& driver) {
    int count = 0;
    CUresult status = driver.cuDeviceGetCount(&count);
    if (status == CUDA_SUCCESS && count <= 0) status = CUDA_ERROR_NO_DEVICE;
    if (status != CUDA_SUCCESS)
        return native_error(driver, status, "cuDeviceGetCount", "the CUDA driver");
    const std::string version = module_version();
    std::vector<DeviceInfo> devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        devices.push_back(describe(driver, ordinal));
        devices.back().driver_version = version;
    }
    return devices;
}

}  // namespace wye::cuda
