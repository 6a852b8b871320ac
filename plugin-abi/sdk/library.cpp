// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/library.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

namespace wye::sdk {

void* load_library(const std::string& library, std::string& why) {
    // Refuses a pipe, since the loader would wait for its writer.
    struct stat status {};
    const bool is_path = library.find('/') != std::string::npos;
    if (is_path && stat(library.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        why = "it is no regular file";
        return nullptr;
    }
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) return handle;
    const char* text = dlerror();
    why = text != nullptr ? text : "no reason given";
    return nullptr;
}

Result<void*> open_library(const std::string& library, std::string_view what,
                           std::string_view fix) {
    std::string why;
    if (void* handle = load_library(library, why); handle != nullptr) return handle;
    return errors::library_absent(what, library, why, fix);
}

void* symbol_in(void* library, const char* name) { return dlsym(library, name); }

}  // namespace wye::sdk
