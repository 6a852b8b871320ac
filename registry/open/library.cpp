// SPDX-License-Identifier: Apache-2.0
#include "registry/open/library.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <boost/dll/shared_library.hpp>

#include "registry/find/manifest.hpp"

namespace wye::registry {
namespace {

// Binds all symbols at once, in local scope, never unmaps, and takes the file name as given. By
// default, Boost binds lazily, and adds `lib` and `.so` to the name. Boost's mode values are those
// of dlopen.
constexpr auto kMode =
    static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

Error refused(const std::filesystem::path& path, std::string loader) {
    std::error_code ignored;
    Code code = Code::BAD_PLUGIN;
    std::string message = fmt::format("the loader refuses `{}`", path.string());
    std::string fix = "Fix: rebuild or reinstall the plugin for this machine";
    std::string subject = path.string();
    // The loader names the missing library before ": cannot open shared object file".
    const std::size_t missing = loader.find(": cannot open shared object file");
    if (!std::filesystem::exists(path, ignored)) {
        code = Code::NOT_FOUND;
        message = fmt::format("`{}` does not exist", path.string());
        fix = "Fix: correct the path, or reinstall the plugin";
    } else if (missing != std::string::npos && loader.compare(0, missing, path.string()) != 0) {
        const std::size_t start = loader.rfind(' ', missing - 1);
        const std::string name = start == std::string::npos
                                     ? loader.substr(0, missing)
                                     : loader.substr(start + 1, missing - start - 1);
        code = Code::MISSING_DEPENDENCY;
        message =
            fmt::format("`{}` needs the library `{}`, which is not installed", path.string(), name);
        fix = fmt::format("Fix: install the package that has `{}`", name);
        subject = name;
    } else if (loader.find("wrong ELF class") != std::string::npos) {
        fix = "Fix: install the 64-bit build of the plugin";
    } else if (const std::size_t at = loader.find("undefined symbol"); at != std::string::npos) {
        fix = fmt::format("Fix: rebuild the plugin, and link the library that defines its {}",
                          loader.substr(at));
    }
    Error error(code, std::move(message), std::move(fix), std::move(subject));
    error.cause = std::make_shared<const Error>(code, std::move(loader), "", path.string());
    return error;
}

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr std::uint16_t kMachine = EM_RISCV;
#endif

// A file descriptor that reads at given offsets. Closed by the destructor.
class LibraryFile {
  public:
    explicit LibraryFile(const std::filesystem::path& path) noexcept
        : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    ~LibraryFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    LibraryFile(const LibraryFile&) = delete;
    LibraryFile& operator=(const LibraryFile&) = delete;
    [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
    [[nodiscard]] bool read(std::uint64_t offset, void* target, std::size_t bytes) const noexcept {
        return ::pread(fd_, target, bytes, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes);
    }
    // Returns 0 at the end, and a negative number after an error.
    [[nodiscard]] ssize_t read_some(std::uint64_t offset, std::span<std::byte> to) const noexcept {
        ssize_t got = -1;
        do {
            got = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
        } while (got < 0 && errno == EINTR);
        return got;
    }

  private:
    int fd_;
};

// The path of the library in the first relative folder of the loader's search path
// (LD_LIBRARY_PATH) that has the library; empty: no relative folder has it.
std::string in_relative_folder(const std::string& soname) {
    void* const self = ::dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    Dl_serinfo size{};
    if (self == nullptr || ::dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
    const std::unique_ptr<void, decltype(&std::free)> room(std::calloc(1, size.dls_size),
                                                           &std::free);
    if (!room) throw std::bad_alloc();
    auto* const folders = static_cast<Dl_serinfo*>(room.get());
    if (::dlinfo(self, RTLD_DI_SERINFOSIZE, folders) != 0 ||
        ::dlinfo(self, RTLD_DI_SERINFO, folders) != 0)
        return {};
    for (unsigned i = 0; i < folders->dls_cnt; ++i) {
        std::string path = folders->dls_serpath[i].dls_name;
        if (path.starts_with('/')) continue;
        path += path.empty() || path.ends_with('/') ? "" : "/";
        path += soname;
        if (::access(path.c_str(), F_OK) == 0) return path;
    }
    return {};
}

Error changed(const std::filesystem::path& path) {
    return {Code::NOT_TRUSTED,
            fmt::format("`{}` was replaced or changed after it was checked", path.string()),
            "Fix: create a new context, which checks it again", path.string()};
}

// "2.36" for "GLIBC_2.36"; empty if the name does not end with a version.
std::string_view version_in(std::string_view name) {
    const std::size_t at = name.rfind('_');
    if (at == name.npos) return {};
    name.remove_prefix(at + 1);
    const bool good = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= '0' && c <= '9') || c == '.';
    });
    return good && name.front() != '.' ? name : std::string_view{};
}

// The highest version that a loaded library defines for its symbols.
std::string symbol_version(const link_map& map) {
    const char* strings = nullptr;
    const char* definitions = nullptr;
    std::uint64_t count = 0;
    // The loader adds the base to addresses in this section, unless the section is read-only.
    const auto address = [&](std::uint64_t value) {
        return reinterpret_cast<const char*>(value < map.l_addr ? map.l_addr + value : value);
    };
    for (const ElfW(Dyn)* at = map.l_ld; at != nullptr && at->d_tag != DT_NULL; ++at) {
        if (at->d_tag == DT_STRTAB) strings = address(at->d_un.d_ptr);
        if (at->d_tag == DT_VERDEF) definitions = address(at->d_un.d_ptr);
        if (at->d_tag == DT_VERDEFNUM) count = at->d_un.d_val;
    }
    std::string best;
    if (strings == nullptr || definitions == nullptr) return best;
    for (; count != 0; --count) {
        ElfW(Verdef) definition{};
        std::memcpy(&definition, definitions, sizeof definition);
        ElfW(Verdaux) name{};
        std::memcpy(&name, definitions + definition.vd_aux, sizeof name);
        const std::string_view version = version_in(strings + name.vda_name);
        if (!version.empty() && compare_versions(version, best) > 0) best = version;
        if (definition.vd_next == 0) break;
        definitions += definition.vd_next;
    }
    return best;
}

// "1.3.239" for a library whose file is "libvulkan.so.1.3.239".
std::string file_version(const link_map& map) {
    std::error_code ignored;
    const std::string name = std::filesystem::canonical(map.l_name, ignored).filename().string();
    const std::size_t at = name.find(".so.");
    return at == std::string::npos ? std::string() : name.substr(at + 4);
}

}  // namespace

Result<void> check_unchanged(const std::filesystem::path& path, const FileStatus& found) {
    if (found.kind == FileStatus::Kind::missing) return {};
    WYE_ASSIGN(const FileStatus now, native_file_system().status(path));
    if (now != found) return changed(path);
    return {};
}

Result<void> check_library(const std::filesystem::path& path, const FileStatus& found) {
    WYE_TRY(check_unchanged(path, found));
    const LibraryFile file(path);
    if (!file.open()) return {};  // the loader will report it
    WYE_ASSIGN(const FileStatus status, native_file_system().status(path));
    const auto bad = [&](Code code, const std::string& what, const char* fix) {
        return Error(code, fmt::format("`{}` {}", path.string(), what), fix, path.string());
    };
    Elf64_Ehdr header{};
    if (!file.read(0, &header, sizeof header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
        return bad(Code::BAD_PLUGIN, "is not a shared object",
                   "Fix: rebuild or reinstall the plugin");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != kMachine)
        return bad(Code::ABI_MISMATCH,
                   fmt::format("was built for another machine (ELF class {}, machine {})",
                               header.e_ident[EI_CLASS], header.e_machine),
                   "Fix: install the plugin's build for this machine");
    // Checks the segments before the loader maps them, because access to a mapped page beyond the
    // end of the file kills the process.
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part{};
        std::uint64_t end = 0;
        if (header.e_phentsize != sizeof part ||
            !file.read(header.e_phoff + i * sizeof part, &part, sizeof part) ||
            __builtin_add_overflow(part.p_offset, part.p_filesz, &end) || end > status.size)
            return bad(Code::BAD_PLUGIN, "is truncated or damaged", "Fix: reinstall the plugin");
    }
    return {};
}

Result<std::string> content_hash(const std::filesystem::path& path) {
    const LibraryFile file(path);
    if (!file.open())
        return Error(Code::IO, fmt::format("`{}` cannot be read", path.string()),
                     "Fix: check its permissions", path.string());
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                         &XXH3_freeState);
    if (!state) throw std::bad_alloc();
    XXH3_128bits_reset(state.get());
    std::vector<std::byte> buffer(std::size_t{64} << 10U);
    for (std::uint64_t at = 0;;) {
        const ssize_t got = file.read_some(at, buffer);
        if (got < 0)
            return Error(Code::IO, fmt::format("reading `{}` failed", path.string()),
                         "Fix: check the disk", path.string());
        if (got == 0) break;
        XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(got));
        at += static_cast<std::uint64_t>(got);
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<SystemLibrary> find_system_library(const std::string& soname) {
    if (const std::string relative = in_relative_folder(soname); !relative.empty())
        return Error(Code::NOT_TRUSTED,
                     fmt::format("the loader would take `{}` from `{}`, which depends on the "
                                 "current folder",
                                 soname, relative),
                     "Fix: write full paths in LD_LIBRARY_PATH", soname);
    ::dlerror();
    void* library = nullptr;
    try {
        library = ::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    } catch (...) {  // thrown by a constructor of the library
        return Error(Code::MISSING_DEPENDENCY, fmt::format("`{}` threw while loading", soname), "",
                     soname);
    }
    if (library == nullptr) {
        const char* text = ::dlerror();
        return Error(Code::MISSING_DEPENDENCY, text == nullptr ? "no reason given" : text, "",
                     soname);
    }
    const link_map* map = nullptr;
    if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return SystemLibrary{};
    return SystemLibrary{symbol_version(*map), file_version(*map)};
}

struct Library::Impl {
    boost::dll::shared_library library;
};

Library::Library(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::~Library() = default;

Result<Library> Library::open(const std::filesystem::path& path) {
    if (!path.is_absolute())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` is not an absolute path", path.string()),
                     "Fix: name the plugin by its full path", path.string());
    try {
        auto impl = std::make_unique<Impl>();
        ::dlerror();
        std::error_code error;
        impl->library.load(path, error, kMode);
        if (error) {
            const char* text = ::dlerror();
            return refused(path, text == nullptr ? error.message() : text);
        }
        return Library(std::move(impl));
    } catch (const std::exception& e) {
        // A constructor of the library may throw through the loader.
        return refused(path, e.what());
    } catch (...) {
        return refused(path, "an exception of unknown type while loading");
    }
}

void* Library::symbol(const char* name) const noexcept {
    try {
        if (!impl_ || !impl_->library.has(name)) return nullptr;
        return reinterpret_cast<void*>(&impl_->library.get<char>(name));
    } catch (...) {
        return nullptr;
    }
}

}  // namespace wye::registry
