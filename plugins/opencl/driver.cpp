// SPDX-License-Identifier: Apache-2.0
#include "opencl/driver.hpp"

#include "wye/sdk/library.hpp"

namespace wye::opencl {

Result<std::unique_ptr<const Driver>> Driver::open(const std::string& library) {
    WYE_ASSIGN(void* handle,
               sdk::open_library(library, "the OpenCL loader",
                                 "Fix: install an OpenCL loader (Debian: `ocl-icd-libopencl1`) and "
                                 "a driver (for the CPU: `pocl-opencl-icd`)"));
    auto driver = std::make_unique<Driver>();
    sdk::Functions functions([&](const char* name) { return sdk::symbol_in(handle, name); });
#define WYE_OPENCL_FIND(name) functions.get(driver->name, #name);
    WYE_OPENCL_SYMBOLS(WYE_OPENCL_FIND)
#undef WYE_OPENCL_FIND
    if (functions.missing() != nullptr)
        return sdk::errors::function_absent(
            library, functions.missing(), "OpenCL 1.2",
            "Fix: install a newer OpenCL loader (Debian: `ocl-icd-libopencl1`)");
    driver->clCreateCommandQueueWithProperties = reinterpret_cast<CreateQueueWithProperties>(
        sdk::symbol_in(handle, "clCreateCommandQueueWithProperties"));
    return std::unique_ptr<const Driver>(std::move(driver));
}

}  // namespace wye::opencl
