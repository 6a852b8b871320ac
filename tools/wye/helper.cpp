// SPDX-License-Identifier: Apache-2.0
#include "helper.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstdlib>
#include <filesystem>

namespace wye::tool {
namespace {

namespace fs = std::filesystem;

// The folder of this program; empty: unknown. In a chroot without /proc, the path by which the
// program was started is used, with links resolved.
fs::path own_folder() {
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) {
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        self = started == nullptr ? fs::path() : fs::canonical(started, error);
    }
    return self.parent_path();
}

// The paths at which a helper may be, in the order of the search.
Result<std::vector<std::string>> places_of(const char* name) {
    if (::getauxval(AT_SECURE) != 0)
        return Error(Code::NOT_TRUSTED,
                     fmt::format("the helper program `wye-{}` is not started, because this "
                                 "process has raised privileges",
                                 name),
                     "Fix: start `wye` without raised privileges", name);
    std::vector<fs::path> folders;
    if (const char* given = std::getenv("WYE_LIBEXEC"); given != nullptr && *given != '\0') {
        folders = {given};
    } else {
        // A relative path would name a program in the current folder.
        if (const fs::path here = own_folder(); here.is_absolute())
            folders = {here, (here / WYE_LIBEXEC_FROM_BIN).lexically_normal()};
    }
    std::vector<std::string> out;
    out.reserve(folders.size());
    for (const fs::path& folder : folders)
        out.push_back((folder / fmt::format("wye-{}", name)).string());
    return out;
}

Error not_found(const char* name, const std::vector<std::string>& tried) {
    return {
        Code::MISSING_DEPENDENCY,
        fmt::format("the helper program `wye-{}` was not found ({})", name, fmt::join(tried, ", ")),
        "Fix: install the package that has it, or set WYE_LIBEXEC to the folder of that "
        "program",
        fmt::format("wye-{}", name)};
}

}  // namespace

Result<std::string> find_helper(const char* name) {
    WYE_ASSIGN(const std::vector<std::string> places, places_of(name));
    for (const std::string& path : places)
        if (::access(path.c_str(), X_OK) == 0) return path;
    return not_found(name, places);
}

ExitCode become_helper(const char* name, std::vector<std::string> arguments) {
    auto places = places_of(name);
    if (!places.ok()) {
        (void)fail(places.error());
        return kFailed;
    }
    for (std::string& path : *places) {
        std::string self = path;
        std::vector<char*> words = {self.data()};
        for (std::string& argument : arguments) words.push_back(argument.data());
        words.push_back(nullptr);
        ::execv(path.c_str(), words.data());
    }
    (void)fail(not_found(name, *places));
    return kFailed;
}

}  // namespace wye::tool
