// SPDX-License-Identifier: Apache-2.0
//
// A proxy of the real OpenCL loader. Its functions fail on request.
#include <dlfcn.h>

#include "faults/thunk.hpp"
#include "opencl/driver.hpp"

namespace {

// The errors by flavour: three that any call may return, then that of NVIDIA's driver after a loss.
constexpr cl_int kCodes[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_INVALID_COMMAND_QUEUE,
                             -9999};

struct Rules {
    static void* find(const char* name) {
        static void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        return dlsym(library, name);
    }
    // Releases and waits run even if they report an error: otherwise the driver would still use
    // memory that the caller uses again.
    static constexpr bool does_first(std::string_view name) {
        return faults::begins(name, "clRelease") || name == "clFinish" ||
               name == "clWaitForEvents" || name == "clEnqueueUnmapMemObject";
    }
    template <typename R, typename... A>
    static R failure(std::string_view, A... a) {
        const cl_int code = kCodes[faults_flavour() % std::size(kCodes)];
        if constexpr (std::is_same_v<R, cl_int>) {
            return code;
        } else {
            if (cl_int* status = faults::last_of(a...)) *status = code;
            return nullptr;
        }
    }
    template <typename R, typename... A>
    static void made(std::string_view name, R result, A... a) {
        if constexpr (std::is_pointer_v<R>) {
            if (result != nullptr && name != "clEnqueueMapBuffer") faults_driver_object(1);
        } else if (result == CL_SUCCESS) {
            if (faults::begins(name, "clRelease")) faults_driver_object(-1);
            if (faults::begins(name, "clRetain")) faults_driver_object(1);
            if constexpr (std::is_same_v<decltype(faults::last_of(a...)), cl_event*>)
                if (faults::last_of(a...) != nullptr) faults_driver_object(1);
        }
    }
    template <typename... A>
    static void freed(std::string_view, A...) {}
};

}  // namespace

// The plugin looks up each function by its name, and gets the thunk of that function.
#define FAULTS_EXPORT(name)                                           \
    extern "C" decltype(&::name) faults_find_##name() {               \
        return &faults::Thunk<Rules, #name, decltype(&::name)>::call; \
    }                                                                 \
    extern "C" __attribute__((                                        \
        visibility("default"),                                        \
        ifunc("faults_find_" #name))) decltype(::name) faults_##name __asm__(#name);
WYE_OPENCL_SYMBOLS(FAULTS_EXPORT)
