// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.hpp"

#include <dlfcn.h>

#include "cuda/status.hpp"

namespace wye::cuda {
namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Error outdated(const std::string& library, const std::string& what) {
    return {Code::MISSING_DEPENDENCY, what,
            "Fix: update the NVIDIA driver (470 or newer; Debian: `nvidia-driver`)", library};
}

}  // namespace

Result<std::unique_ptr<const Driver>> Driver::open(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char* text = dlerror();
        return Error(Code::MISSING_DEPENDENCY,
                     "the CUDA driver `" + library +
                         "` cannot be opened: " + (text != nullptr ? text : "no reason given"),
                     "Fix: install the NVIDIA driver (Debian: `nvidia-driver`); in a container, "
                     "start it with its GPUs (`--gpus all`)",
                     library);
    }
    auto driver = std::make_unique<Driver>();
    const char* missing = nullptr;
    const auto find = [&](const char* name) {
        void* symbol = dlsym(handle, name);
        if (symbol == nullptr && missing == nullptr) missing = name;
        return symbol;
    };
#define WYE_CUDA_FIND(name, symbol) \
    driver->name = reinterpret_cast<decltype(driver->name)>(find(symbol));
    WYE_CUDA_SYMBOLS(WYE_CUDA_FIND)
#undef WYE_CUDA_FIND
    if (driver->cuInit == nullptr || driver->cuDriverGetVersion == nullptr)
        return Error(Code::MISSING_DEPENDENCY,
                     "`" + library + "` is no CUDA driver: it has no `cuInit`",
                     "Fix: name the driver's own library (`libcuda.so.1`)", library);
    const CUresult status = driver->cuInit(0);
    if (status == CUDA_ERROR_STUB_LIBRARY) {
        Error error(
            Code::MISSING_DEPENDENCY,
            "`" + library + "` is the stub that the CUDA toolkit ships for linking, not a driver",
            "Fix: take the toolkit's `lib64/stubs` out of the library path, and install the "
            "NVIDIA driver",
            library);
        error.native_domain = "cuda";
        error.native_code = status;
        return error;
    }
    if (status != CUDA_SUCCESS) return cuda_error(*driver, status, "cuInit", library);
    (void)driver->cuDriverGetVersion(&driver->version);
    if (driver->version < kOldestVersion)
        return outdated(library, "the driver `" + library + "` supports CUDA " +
                                     version_text(driver->version) + ", and " +
                                     version_text(kOldestVersion) + " is needed");
    if (missing != nullptr)
        return outdated(library, "`" + library + "` has no `" + std::string(missing) +
                                     "`, which is part of CUDA " + version_text(kOldestVersion));
    return std::unique_ptr<const Driver>(std::move(driver));
}

}  // namespace wye::cuda
