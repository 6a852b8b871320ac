// SPDX-License-Identifier: Apache-2.0
#include "opencl/discovery.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <span>

#include "opencl/quirks.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/file_mask.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::opencl {
namespace {

// Values of newer versions of cl_ext.h, which Debian 12 lacks.
constexpr cl_device_info kPciBusInfo = 0x410F;     // cl_khr_pci_bus_info: 4 x u32
constexpr cl_device_info kUuid = 0x106A;           // cl_khr_device_uuid: 16 bytes
constexpr cl_device_info kLuidValid = 0x106C;      // bool
constexpr cl_device_info kLuid = 0x106D;           // 8 bytes
constexpr cl_device_info kConformance = 0x1072;    // OpenCL 3.0: text
constexpr cl_device_info kFreeMemoryAmd = 0x4039;  // cl_amd_device_attribute_query: KiB, 2 x size_t
constexpr cl_device_info kNvBus = 0x4008, kNvSlot = 0x4009, kNvDomain = 0x400A;

std::string text_of(const Driver& driver, cl_device_id id, cl_device_info what) {
    std::size_t size = 0;
    if (driver.clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || size < 2) return {};
    std::string out(size, '\0');
    if (driver.clGetDeviceInfo(id, what, size, out.data(), nullptr) != CL_SUCCESS) return {};
    out.resize(std::strlen(out.c_str()));
    return out;
}

std::string text_of(const Driver& driver, cl_platform_id id, cl_platform_info what) {
    std::size_t size = 0;
    if (driver.clGetPlatformInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || size < 2) return {};
    std::string out(size, '\0');
    if (driver.clGetPlatformInfo(id, what, size, out.data(), nullptr) != CL_SUCCESS) return {};
    out.resize(std::strlen(out.c_str()));
    return out;
}

// Queries a value. Leaves `out` unchanged if the query fails.
template <typename T>
bool ask(const Driver& driver, cl_device_id id, cl_device_info what, T& out) {
    T value{};
    if (driver.clGetDeviceInfo(id, what, sizeof value, &value, nullptr) != CL_SUCCESS) return false;
    out = value;
    return true;
}

std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
    char out[48];
    std::snprintf(out, sizeof out, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return out;
}

void identify(const Driver& driver, DeviceInfo& d) {
    ask(driver, d.id, CL_DEVICE_VENDOR_ID, d.vendor_id);
    d.conformance = text_of(driver, d.id, kConformance);
    if (d.has_extension("cl_amd_device_attribute_query")) {
        std::array<std::size_t, 2> free{};
        if (ask(driver, d.id, kFreeMemoryAmd, free)) d.free_bytes = std::uint64_t{free[0]} << 10U;
    }
    if (d.has_extension("cl_khr_pci_bus_info")) {
        std::array<cl_uint, 4> pci{};
        if (ask(driver, d.id, kPciBusInfo, pci))
            d.pci_address = pci_text(pci[0], pci[1], pci[2], pci[3]);
    } else if (d.has_extension("cl_nv_device_attribute_query")) {
        cl_uint bus = 0, slot = 0, domain = 0;
        if (ask(driver, d.id, kNvBus, bus) && ask(driver, d.id, kNvSlot, slot)) {
            ask(driver, d.id, kNvDomain, domain);
            d.pci_address = pci_text(domain, bus, slot >> 3U, slot & 7U);
        }
    }
    if (!d.has_extension("cl_khr_device_uuid")) return;
    std::array<unsigned char, 16> uuid{};
    if (ask(driver, d.id, kUuid, uuid)) d.uuid = sdk::hex_of(std::as_bytes(std::span(uuid)));
    cl_bool valid = CL_FALSE;
    std::array<unsigned char, 8> luid{};
    if (ask(driver, d.id, kLuidValid, valid) && valid == CL_TRUE && ask(driver, d.id, kLuid, luid))
        d.luid = sdk::hex_of(std::as_bytes(std::span(luid)));
}

bool in_path(const std::string& path, const char* program) {
    std::size_t from = 0;
    while (from <= path.size()) {
        const std::size_t to = std::min(path.find(':', from), path.size());
        std::string folder = path.substr(from, to - from);
        if (folder.empty()) folder = ".";
        if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
        from = to + 1;
    }
    return false;
}

// The folder where PoCL keeps compiled code, as in PoCL's source pocl_cache.c. Empty: unknown.
std::string pocl_cache_folder(const Surroundings& surroundings) {
    if (surroundings.pocl_cache_dir) return *surroundings.pocl_cache_dir;
    if (surroundings.cache_home && !surroundings.cache_home->empty())
        return *surroundings.cache_home + "/pocl/kcache";
    return surroundings.home ? *surroundings.home + "/.cache/pocl/kcache" : std::string();
}

// Whether the folder exists, but the process may not write to it.
bool is_sealed(const std::string& folder) {
    return !folder.empty() && faccessat(AT_FDCWD, folder.c_str(), F_OK, AT_EACCESS) == 0 &&
           faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0;
}

DeviceInfo describe(const Driver& driver, cl_platform_id platform, const std::string& platform_name,
                    cl_device_id id, const Surroundings& surroundings) {
    DeviceInfo d;
    d.platform = platform;
    d.id = id;
    d.platform_name = platform_name;
    d.name = text_of(driver, id, CL_DEVICE_NAME);
    d.vendor = text_of(driver, id, CL_DEVICE_VENDOR);
    d.driver_version = text_of(driver, id, CL_DRIVER_VERSION);
    d.version = text_of(driver, id, CL_DEVICE_VERSION);
    d.extensions = text_of(driver, id, CL_DEVICE_EXTENSIONS);
    d.full_profile = text_of(driver, id, CL_DEVICE_PROFILE) == "FULL_PROFILE";
    cl_device_type type = 0;
    ask(driver, id, CL_DEVICE_TYPE, type);
    d.kind = (type & CL_DEVICE_TYPE_CPU) != 0           ? "cpu"
             : (type & CL_DEVICE_TYPE_GPU) != 0         ? "gpu"
             : (type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? "accelerator"
                                                        : "other";
    ask(driver, id, CL_DEVICE_SINGLE_FP_CONFIG, d.single_config);
    ask(driver, id, CL_DEVICE_DOUBLE_FP_CONFIG, d.double_config);
    ask(driver, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, d.max_invocations);
    ask(driver, id, CL_DEVICE_MAX_PARAMETER_SIZE, d.max_parameter_bytes);
    ask(driver, id, CL_DEVICE_LOCAL_MEM_SIZE, d.local_bytes);
    ask(driver, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, d.max_alloc_bytes);
    ask(driver, id, CL_DEVICE_GLOBAL_MEM_SIZE, d.memory_bytes);
    ask(driver, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, d.base_alignment_bits);
    ask(driver, id, CL_DEVICE_ADDRESS_BITS, d.address_bits);
    ask(driver, id, CL_DEVICE_MAX_COMPUTE_UNITS, d.compute_units);
    ask(driver, id, CL_DEVICE_MAX_CLOCK_FREQUENCY, d.clock_mhz);
    cl_bool unified = CL_FALSE;
    ask(driver, id, CL_DEVICE_HOST_UNIFIED_MEMORY, unified);
    d.unified_memory = unified == CL_TRUE;
    std::array<std::size_t, 8> sizes{};  // devices may report more than three axes
    if (driver.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes.data(),
                               nullptr) == CL_SUCCESS)
        d.max_workgroup = {sizes[0], sizes[1], sizes[2]};
    identify(driver, d);

    cl_bool available = CL_TRUE;
    cl_bool compiler = CL_TRUE;
    ask(driver, id, CL_DEVICE_AVAILABLE, available);
    ask(driver, id, CL_DEVICE_COMPILER_AVAILABLE, compiler);
    const bool pocl = is_pocl(platform_name);
    if (available == CL_FALSE) {
        d.reason = "the driver says that the device is not available";
        d.fix = "Fix: see whether another process has it, or restart the driver";
        d.native_code = CL_DEVICE_NOT_AVAILABLE;
    } else if (compiler == CL_FALSE) {
        d.reason = "the driver has no OpenCL C compiler";
        d.fix = "Fix: install the vendor's full OpenCL driver";
        d.native_code = CL_COMPILER_NOT_AVAILABLE;
    } else if (d.version.rfind("OpenCL 1.0", 0) == 0 || d.version.rfind("OpenCL 1.1", 0) == 0) {
        d.reason = "the device has " + d.version + ", and OpenCL 1.2 is needed";
        d.fix = "Fix: update the OpenCL driver";
    } else if (rusticl_loops(platform_name, d.driver_version)) {
        // quirk rusticl-loops.
        d.reason = "rusticl of Mesa " + d.driver_version + " runs some loops wrongly";
        d.fix = "Fix: install a newer Mesa, or use another device";
    } else if (pocl && surroundings.path && !in_path(*surroundings.path, "ld")) {
        // quirk pocl-needs-ld.
        d.reason =
            "PoCL links its kernels with `ld`, which is not in PATH, and ends the process "
            "without it";
        d.fix = "Fix: install `binutils`, or put the folder of `ld` into PATH";
    } else if (const std::string folder = pocl_cache_folder(surroundings);
               pocl && is_sealed(folder)) {
        // quirk pocl-cache-folder.
        d.reason =
            "PoCL cannot write its cache folder `" + folder + "`, and builds no program without it";
        d.fix = "Fix: set POCL_CACHE_DIR to a folder that can be written";
    }
    return d;
}

}  // namespace

bool DeviceInfo::has_extension(std::string_view extension) const {
    for (std::size_t at = extensions.find(extension); at != std::string::npos;
         at = extensions.find(extension, at + 1)) {
        const std::size_t end = at + extension.size();
        if ((at == 0 || extensions[at - 1] == ' ') &&
            (end == extensions.size() || extensions[end] == ' '))
            return true;
    }
    return false;
}

std::optional<Error> refuses_file_mask(std::string_view platform_name) {
    if (!is_pocl(platform_name)) return std::nullopt;
    const mode_t mask = sdk::file_mask().value_or(0);
    if ((mask & 0700U) == 0) return std::nullopt;
    char text[8];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mask & 0777U));
    return Error(Code::UNSUPPORTED,
                 std::string("the file mode mask (umask) of this process is ") + text +
                     ", so PoCL could not read the files that it writes into its cache folder",
                 "Fix: set a mask that leaves the owner all rights, such as 0077",
                 std::string(platform_name));
}

Result<std::vector<DeviceInfo>> discover(const Driver& driver, const Surroundings& surroundings) {
    // quirk pocl-first-query. This lock holds for the whole process: all contexts of the host share
    // the plugin, and so its static variables.
    static sdk::Mutex first_query;
    const sdk::Lock lock(first_query);  // quirk pocl-signal-handlers: the calls below install them
    cl_uint count = 0;
    cl_int status = driver.clGetPlatformIDs(0, nullptr, &count);
    if (status != CL_SUCCESS || count == 0)
        return native_error(status == CL_SUCCESS ? -1001 : status, "clGetPlatformIDs",
                            "the OpenCL loader");
    std::vector<cl_platform_id> platforms(count);
    status = driver.clGetPlatformIDs(count, platforms.data(), nullptr);
    if (status != CL_SUCCESS) return native_error(status, "clGetPlatformIDs", "the OpenCL loader");

    std::vector<DeviceInfo> devices;
    std::optional<Error> passed_over;
    for (const cl_platform_id platform : platforms) {
        const std::string name = text_of(driver, platform, CL_PLATFORM_NAME);
        const bool pocl = is_pocl(name);
        // quirk pocl-empty-cache-dir.
        if (pocl && surroundings.pocl_cache_dir && surroundings.pocl_cache_dir->empty()) {
            passed_over = Error(Code::NO_DEVICE,
                                "PoCL ends the process when POCL_CACHE_DIR is set and empty, so it "
                                "was not asked for devices",
                                "Fix: unset POCL_CACHE_DIR, or name a folder", name);
            continue;
        }
        // PoCL makes its cache folder when it is asked for devices, so this check comes first.
        if (auto refused = refuses_file_mask(name)) {
            passed_over = std::move(refused);
            continue;
        }
        cl_uint found = 0;
        status = driver.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found);
        std::vector<cl_device_id> ids(found);
        if (status == CL_SUCCESS && found != 0)
            status =
                driver.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, ids.data(), nullptr);
        if (status != CL_SUCCESS || found == 0) {
            // May be quirk pocl-cache-folder.
            passed_over = native_error(status == CL_SUCCESS ? CL_DEVICE_NOT_FOUND : status,
                                       "clGetDeviceIDs", "platform `" + name + "`");
            if (pocl)
                passed_over->fix =
                    "Fix: see that PoCL can create its cache folder "
                    "(POCL_CACHE_DIR, else ~/.cache/pocl)";
            continue;
        }
        for (const cl_device_id id : ids)
            devices.push_back(describe(driver, platform, name, id, surroundings));
    }
    if (devices.empty() && passed_over) return *std::move(passed_over);
    return devices;
}

}  // namespace wye::opencl
