// SPDX-License-Identifier: Apache-2.0
#include "vulkan/setup/mapped_drivers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <memory>
#include <string>
#include <vector>

namespace wye::vulkan {
namespace {

struct Close {
    void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

std::vector<std::string> mapped_libraries() {
    std::vector<std::string> out;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
                static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
            return 0;
        },
        &out);
    return out;
}

// Whether the library is a driver: the loader finds drivers by this symbol. A search by handle
// includes the library's dependencies, so the symbol must be in the library itself.
bool is_driver(void* library, const std::string& name) {
    void* entry = dlsym(library, "vk_icdGetInstanceProcAddr");
    Dl_info info{};
    return entry != nullptr && dladdr(entry, &info) != 0 && info.dli_fname == name;
}

}  // namespace

void keep_drivers_mapped() {
    for (const std::string& name : mapped_libraries()) {
        const Library library(dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD));
        if (library == nullptr || !is_driver(library.get(), name)) continue;
        // RTLD_NODELETE stays in effect when both references are closed.
        const Library kept(
            dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE));
    }
}

}  // namespace wye::vulkan
