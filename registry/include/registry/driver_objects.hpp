// SPDX-License-Identifier: Apache-2.0
//
// DriverObjects: the loaded libraries that belong to plugins and drivers. Those are the libraries
// loaded during a call of a plugin, the plugins, and all libraries that they link (DT_NEEDED), even
// if the application uses them too: both a GL application and a driver may use LLVM, whose handlers
// the driver installs. Never a driver's: the executable, the C library, libraries loaded while no
// plugin is called, and code outside libraries (of a JIT compiler).
//
// A library that another thread of the application loads during a call of a plugin counts as a
// driver's.
//
// One thread at a time. Does not throw; without memory it misses libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wye::registry {

class DriverObjects {
  public:
    // Updates the list of libraries; `drivers`: new ones are a driver's. Fast if none was loaded or
    // unloaded since.
    void look(bool drivers) noexcept;
    // Marks the library with `address` as a driver's.
    void add(const void* address) noexcept;
    // Whether `code` is in a driver's library.
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
