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

// Checks a file before opening it: NOT_TRUSTED if it is not the file `found` any more (`missing`:
// any file), ABI_MISMATCH if it was built for another machine, BAD_PLUGIN if it is not a shared
// object or is truncated. The system loader reports a file for another machine as missing, and
// crashes on a truncated one.
[[nodiscard]] Result<void> check_library(const std::filesystem::path& path,
                                         const FileStatus& found);
// NOT_TRUSTED if the file at `path` is not `found` any more.
[[nodiscard]] Result<void> check_unchanged(const std::filesystem::path& path,
                                           const FileStatus& found);

// A hash of a file's bytes, in hex. Errors: IO.
[[nodiscard]] Result<std::string> content_hash(const std::filesystem::path& path);

// A library that the system's search found, by its soname. It stays mapped, as with the plugin that
// needs it.
struct SystemLibrary {
    std::string symbol_version;  // "2.36", the highest that it defines (GLIBC_2.36); empty: none
    std::string file_version;    // "1.3.239", after ".so." in its file's name; empty: none
};
// The error has the loader's text.
[[nodiscard]] Result<SystemLibrary> find_system_library(const std::string& soname);

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
