// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/library.hpp"

#include <dlfcn.h>

namespace wye::sdk {

Result<void*> open_library(const std::string& library, std::string_view what,
                           std::string_view fix) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) return handle;
    const char* why = dlerror();
    return errors::library_absent(what, library, why != nullptr ? why : "no reason given", fix);
}

void* symbol_in(void* library, const char* name) { return dlsym(library, name); }

}  // namespace wye::sdk
