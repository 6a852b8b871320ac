// SPDX-License-Identifier: Apache-2.0
//
// A proxy of the fake CUDA driver. Its functions fail on request.
#include <dlfcn.h>

#include "cuda/driver.hpp"
#include "faults/thunk.hpp"

namespace {

constexpr CUresult kCodes[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN,
                               CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED};

struct Rules {
    static void* find(const char* name) {
        static void* library = dlopen(WYE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        return dlsym(library, name);
    }
    static constexpr bool does_first(std::string_view name) {
        return name.find("Destroy") != name.npos || name.find("Free") != name.npos ||
               name.find("Synchronize") != name.npos || name.find("Release") != name.npos ||
               name.find("PopCurrent") != name.npos || name.find("Unload") != name.npos;
    }
    template <typename R, typename... A>
    static R failure(std::string_view, A...) {
        return kCodes[faults_flavour() % std::size(kCodes)];
    }
    template <typename R, typename... A>
    static void made(std::string_view, R, A...) {}
};

}  // namespace

// The plugin looks up each function by its name, and gets the thunk of that function.
#define FAULTS_EXPORT(name, symbol)                                    \
    extern "C" decltype(&::name) faults_find_##name() {                \
        return &faults::Thunk<Rules, symbol, decltype(&::name)>::call; \
    }                                                                  \
    extern "C" __attribute__((                                         \
        visibility("default"),                                         \
        ifunc("faults_find_" #name))) decltype(::name) faults_##name __asm__(symbol);
WYE_CUDA_SYMBOLS(FAULTS_EXPORT)
