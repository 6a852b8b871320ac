// SPDX-License-Identifier: Apache-2.0
//
// Library: one opened shared object. The only use of Boost.DLL in the host is in library.cpp.
// Opened with all symbols bound at once and local scope; never found by the system's own search, so
// the path must be absolute. The code stays mapped for good (drivers leave threads, thread-local
// destructors and handlers behind), whatever happens to this object. Movable; free-threaded once
// open. No exception leaves it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "wye/sdk/result.hpp"

namespace wye::registry {

// ABI_MISMATCH when the file's header says that it was built for another machine, BAD_PLUGIN when
// it is no shared object, or cut short. Asked first: the system loader reports a foreign machine as
// a missing file, and dies of a truncated one.
[[nodiscard]] Result<void> check_architecture(const std::filesystem::path& path);

// Whether the system's own search finds a library, by its soname. A library that is found stays
// mapped, as the plugin that needs it would leave it. The error is the loader's text.
[[nodiscard]] Result<void> find_system_library(const std::string& soname);

class Library {
  public:
    // INVALID_ARGUMENT for a relative path. NOT_FOUND: no such file. MISSING_DEPENDENCY: a library
    // that it links to is absent. BAD_PLUGIN: anything else that the loader refuses. The loader's
    // own text is the cause's message.
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
