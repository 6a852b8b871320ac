// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a command (LD_PRELOAD). WYE_FAULTS describes the fault as "KIND AT PERSISTENT
// FLAVOUR FILE". The name of the call that failed is written to FILE.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "faults/inject.hpp"

namespace {

void begin() {
    const char* what = std::getenv("WYE_FAULTS");
    unsigned kind = 0, persistent = 0, flavour = 0;
    unsigned long long at = 0;
    char path[512] = {};
    if (what == nullptr ||
        std::sscanf(what, "%u %llu %u %u %511s", &kind, &at, &persistent, &flavour, path) != 5)
        return;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* name = mmap(nullptr, faults::kNameRoom, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (name == MAP_FAILED) return;
    faults::arm(
        {static_cast<faults::Kind>(kind), at, persistent != 0, flavour, static_cast<char*>(name)});
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int count, char** values, char** environment) {
    begin();
    return real_main(count, values, environment);
}

}  // namespace

// Arms the fault when main begins: the allocations of static objects before that must not fail.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    Main main, int count, char** values, void (*init)(), void (*fini)(), void (*loader_fini)(),
    void* stack_end) {
    real_main = main;
    const auto real =
        reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
    return real(counted_main, count, values, init, fini, loader_fini, stack_end);
}
