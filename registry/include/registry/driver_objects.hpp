// SPDX-License-Identifier: Apache-2.0
//
// DriverObjects: which of the loaded libraries belong to plugins and drivers. Those are the
// libraries that appear while a plugin is being called, those that were named as plugins, and all
// that they link (DT_NEEDED), even if the application uses them too: a GL application has had LLVM
// loaded by its own driver when another driver installs LLVM's handlers. The executable and the C
// library are never a driver's, nor is what appears while no plugin is called, nor code outside
// libraries (of a JIT compiler).
//
// A library that another thread of the application loads while a plugin is being called cannot be
// told apart, and counts as a driver's.
//
// For one thread at a time. Throws nothing; when memory is short it knows less.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wye::registry {

class DriverObjects {
  public:
    // Looks at what is loaded now; `drivers`: new libraries are a driver's. Costs next to nothing
    // when nothing was loaded or unloaded since.
    void look(bool drivers) noexcept;
    // The library that has `address` is a driver's.
    void add(const void* address) noexcept;
    // `code` lies in a library of a driver.
    [[nodiscard]] bool has(const void* code) const noexcept;

    struct Object {
        std::uintptr_t base = 0;
        std::uintptr_t begin = 0, end = 0;
        std::string name;                 // the path; empty: the executable
        std::string soname;               // DT_SONAME, else the last part of the path
        std::vector<std::string> needed;  // DT_NEEDED
        bool driver = false;
    };

  private:
    void spread();

    std::uint64_t adds_ = 0, subs_ = 0;  // of the loader, at the last look
    std::vector<Object> objects_;
};

}  // namespace wye::registry
