// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.hpp"

#include "cuda/status.hpp"
#include "wye/sdk/library.hpp"

namespace wye::cuda {
namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

constexpr const char* kUpdate =
    "Fix: update the NVIDIA driver (470 or newer; Debian: `nvidia-driver`)";

}  // namespace

Result<std::unique_ptr<const Driver>> Driver::open(const std::string& library) {
    WYE_ASSIGN(void* handle,
               sdk::open_library(library, "the CUDA driver",
                                 "Fix: install the NVIDIA driver (Debian: `nvidia-driver`) if this "
                                 "machine has a GPU of NVIDIA, and start a container with its GPUs "
                                 "(`--gpus all`); else use another device"));
    auto driver = std::make_unique<Driver>();
    sdk::Functions functions([&](const char* name) { return sdk::symbol_in(handle, name); });
#define WYE_CUDA_FIND(name, symbol) functions.get(driver->name, symbol);
    WYE_CUDA_SYMBOLS(WYE_CUDA_FIND)
#undef WYE_CUDA_FIND
    driver->cuStreamWriteValue32 = reinterpret_cast<decltype(driver->cuStreamWriteValue32)>(
        sdk::symbol_in(handle, "cuStreamWriteValue32_v2"));
    if (driver->cuInit == nullptr || driver->cuDriverGetVersion == nullptr)
        return Error(Code::MISSING_DEPENDENCY,
                     "`" + library + "` is no CUDA driver: it has no `cuInit`",
                     "Fix: name the driver's own library (`libcuda.so.1`)", library);
    const CUresult status = driver->cuInit(0);
    // quirk cuda-stub-library.
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
    if (status != CUDA_SUCCESS) return native_error(*driver, status, "cuInit", library);
    (void)driver->cuDriverGetVersion(&driver->version);
    if (driver->version < kOldestVersion)
        return Error(Code::MISSING_DEPENDENCY,
                     "the driver `" + library + "` supports CUDA " + version_text(driver->version) +
                         ", and " + version_text(kOldestVersion) + " is needed",
                     kUpdate, library);
    if (functions.missing() != nullptr)
        return sdk::errors::function_absent(library, functions.missing(),
                                            "CUDA " + version_text(kOldestVersion), kUpdate);
    return std::unique_ptr<const Driver>(std::move(driver));
}

}  // namespace wye::cuda
