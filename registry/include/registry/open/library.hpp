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

#include "registry/file_system.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// Checks a library file before it is opened, because the system loader reports a file for another
// machine as missing, and crashes on a truncated one. NOT_TRUSTED: it is no longer the file `found`
// (not checked if `found` is `missing`). ABI_MISMATCH: built for another machine. BAD_PLUGIN: not a
// shared object, or truncated.
[[nodiscard]] Result<void> check_library(const std::filesystem::path& path,
                                         const FileStatus& found);
// NOT_TRUSTED if the file at `path` is no longer the file `found`.
[[nodiscard]] Result<void> check_unchanged(const std::filesystem::path& path,
                                           const FileStatus& found);

// A hash of a file's content, in hex. Errors: IO.
[[nodiscard]] Result<std::string> content_hash(const std::filesystem::path& path);

// A library that the loader found by its soname. The library stays mapped, as it would for the
// plugin that needs it.
struct SystemLibrary {
    // The highest version of symbols that the library defines: "2.36" for GLIBC_2.36; empty: none.
    std::string symbol_version;
    std::string file_version;  // what follows ".so." in its file name, "1.3.239"; empty: none
};
// An error contains the loader's text.
[[nodiscard]] Result<SystemLibrary> find_system_library(const std::string& soname);

class Library {
  public:
    // Errors: INVALID_ARGUMENT: a relative path; NOT_FOUND: no such file; MISSING_DEPENDENCY: a
    // library that the file links is absent; BAD_PLUGIN: the loader refuses it for another reason.
    // The cause's message is the loader's text.
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
