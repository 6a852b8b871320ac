// SPDX-License-Identifier: Apache-2.0
//
// DriverObjects: the set of loaded libraries that belong to plugins and drivers. These are the
// plugins, the libraries loaded during a call of a plugin, and all libraries that these link,
// directly or not (DT_NEEDED), even if the application uses them too: both a GL application and a
// driver may use LLVM, whose handlers the driver installs. Never in the set: the executable, the C
// library, libraries loaded while no plugin is called, and code outside libraries (of a JIT
// compiler).
//
// A library that another thread of the application loads during a call of a plugin is taken for a
// driver's.
//
// One thread at a time. Does not throw; if memory is short, libraries may be missing from the set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wye::registry {

class DriverObjects {
  public:
    // Updates the list of libraries; `drivers`: new libraries count as a driver's. Fast if none was
    // loaded or unloaded since the last call.
    void look(bool drivers) noexcept;
    // Marks the library with `address` as a driver's.
    void add(const void* address) noexcept;
    // Whether `code` is in a driver's library.
    [[nodiscard]] bool has(const void* code) const noexcept;

    struct Object {
        std::uintptr_t base = 0;
        std::uintptr_t begin = 0, end = 0;
        std::string name;    // the path; empty: the executable
        std::string soname;  // DT_SONAME, else the last part of the path
        bool has_soname = false;
        std::vector<std::string> needed;  // DT_NEEDED
        bool driver = false;
    };
    // Everything that is loaded now; `driver` is not set. Free-threaded.
    [[nodiscard]] static std::vector<Object> loaded() noexcept;

  private:
    void spread();

    // The loader's counters of loads and unloads, at the last look.
    std::uint64_t adds_ = 0, subs_ = 0;
    std::vector<Object> objects_;
};

}  // namespace wye::registry
