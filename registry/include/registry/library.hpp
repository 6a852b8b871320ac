// SPDX-License-Identifier: Apache-2.0
//
// Library: one opened shared object. Only library.cpp uses Boost.DLL. Opens with RTLD_NOW and local
// scope. The path must be absolute, so that the system's search is not used. The library is never
// unmapped, since drivers leave threads, thread-local destructors and handlers behind. Movable;
// free-threaded once open. Does not throw.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "wye/sdk/result.hpp"

namespace wye::registry {

// Checks a file before opening it: ABI_MISMATCH if it was built for another machine, BAD_PLUGIN if
// it is not a shared object or is truncated. The system loader reports the former as a missing
// file, and crashes on a truncated one.
[[nodiscard]] Result<void> check_architecture(const std::filesystem::path& path);

// Whether the system's search finds a library, by its soname. A found library stays mapped, as with
// the plugin that needs it. The error has the loader's text.
[[nodiscard]] Result<void> find_system_library(const std::string& soname);

class Library {
  public:
    // Errors: INVALID_ARGUMENT for a relative path; NOT_FOUND: no such file; MISSING_DEPENDENCY: a
    // library that it links is absent; BAD_PLUGIN: the loader refuses it for another reason. The
    // cause's message is the loader's text.
    [[nodiscard]] static Result<Library> open(const std::filesystem::path& path);

    Library(Library&&) noexcept;
    Library& operator=(Library&&) noexcept;
    ~Library();

    // The address of an exported symbol, or null.
    [[nodiscard]] void* symbol(const char* name) const noexcept;

  private:
    struct Impl;
    explicit Library(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace wye::registry
