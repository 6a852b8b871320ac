// SPDX-License-Identifier: Apache-2.0
#include "registry/library.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <fstream>

#include <boost/dll/shared_library.hpp>

namespace wye::registry {
namespace {

// All symbols at once, local scope, never unmapped; the file name as given. Boost's default is lazy
// binding with `lib` and `.so` added to the name. Boost's mode values are the system's.
constexpr auto kMode =
    static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

Error refused(const std::filesystem::path& path, std::string loader) {
    std::error_code ignored;
    Code code = Code::BAD_PLUGIN;
    std::string message = fmt::format("the loader refuses `{}`", path.string());
    std::string fix = "Fix: rebuild or reinstall the plugin for this machine";
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
    } else if (loader.find("wrong ELF class") != std::string::npos) {
        fix = "Fix: install the 64-bit build of the plugin";
    } else if (const std::size_t at = loader.find("undefined symbol"); at != std::string::npos) {
        fix = fmt::format("Fix: rebuild the plugin, and link the library that defines its {}",
                          loader.substr(at));
    }
    Error error(code, std::move(message), std::move(fix), path.string());
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

}  // namespace

Result<void> check_architecture(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return {};  // the loader will report it
    const auto size = static_cast<std::uint64_t>(file.tellg());
    const auto read = [&](std::uint64_t offset, void* target, std::size_t bytes) {
        file.clear();
        file.seekg(static_cast<std::streamoff>(offset));
        file.read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
        return file.gcount() == static_cast<std::streamsize>(bytes);
    };
    const auto bad = [&](Code code, const std::string& what, const char* fix) {
        return Error(code, fmt::format("`{}` {}", path.string(), what), fix, path.string());
    };
    Elf64_Ehdr header{};
    if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_type != ET_DYN)
        return bad(Code::BAD_PLUGIN, "is not a shared object",
                   "Fix: rebuild or reinstall the plugin");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != kMachine)
        return bad(Code::ABI_MISMATCH,
                   fmt::format("was built for another machine (ELF class {}, machine {})",
                               header.e_ident[EI_CLASS], header.e_machine),
                   "Fix: install the plugin's build for this machine");
    // Access to a mapped page beyond the end of the file kills the process, so check first.
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part{};
        std::uint64_t end = 0;
        if (header.e_phentsize != sizeof part ||
            !read(header.e_phoff + i * sizeof part, &part, sizeof part) ||
            __builtin_add_overflow(part.p_offset, part.p_filesz, &end) || end > size)
            return bad(Code::BAD_PLUGIN, "is truncated or damaged", "Fix: reinstall the plugin");
    }
    return {};
}

Result<void> find_system_library(const std::string& soname) {
    ::dlerror();
    try {
        if (::dlopen(soname.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return {};
    } catch (...) {  // thrown by a constructor of the library
        return Error(Code::MISSING_DEPENDENCY, fmt::format("`{}` threw while loading", soname), "",
                     soname);
    }
    const char* text = ::dlerror();
    return Error(Code::MISSING_DEPENDENCY, text == nullptr ? "no reason given" : text, "", soname);
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
