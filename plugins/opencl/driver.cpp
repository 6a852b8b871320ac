// SPDX-License-Identifier: Apache-2.0
#include "opencl/driver.hpp"

#include <dlfcn.h>

namespace wye::opencl {

Result<std::unique_ptr<const Driver>> Driver::open(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char* text = dlerror();
        return Error(Code::MISSING_DEPENDENCY,
                     "the OpenCL loader `" + library +
                         "` cannot be opened: " + (text != nullptr ? text : "no reason given"),
                     "Fix: install an OpenCL loader (Debian: `ocl-icd-libopencl1`) and a driver "
                     "(for the CPU: `pocl-opencl-icd`)",
                     library);
    }
    auto driver = std::make_unique<Driver>();
    const char* missing = nullptr;
    const auto find = [&](const char* name) {
        void* symbol = dlsym(handle, name);
        if (symbol == nullptr && missing == nullptr) missing = name;
        return symbol;
    };
#define WYE_OPENCL_FIND(name) driver->name = reinterpret_cast<decltype(driver->name)>(find(#name));
    WYE_OPENCL_SYMBOLS(WYE_OPENCL_FIND)
#undef WYE_OPENCL_FIND
    if (missing != nullptr)
        return Error(Code::MISSING_DEPENDENCY,
                     "`" + library + "` has no `" + missing + "`, which is part of OpenCL 1.2",
                     "Fix: install a newer OpenCL loader (Debian: `ocl-icd-libopencl1`)", library);
    return std::unique_ptr<const Driver>(std::move(driver));
}

}  // namespace wye::opencl
