// SPDX-License-Identifier: Apache-2.0
#include "helper.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>

namespace wye::tool {

ExitCode become_helper(const char* name, std::vector<std::string> arguments) {
    namespace fs = std::filesystem;
    if (::getauxval(AT_SECURE) != 0) {
        (void)fail(Error(Code::NOT_TRUSTED,
                         fmt::format("the helper program `wye-{}` is not started, because this "
                                     "process has raised privileges",
                                     name),
                         "Fix: start it as the user that it is for", name));
        return kFailed;
    }
    std::vector<fs::path> folders;
    if (const char* given = std::getenv("WYE_LIBEXEC"); given != nullptr && *given != '\0') {
        folders = {given};
    } else {
        std::error_code error;
        const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
        folders = {here, (here / WYE_LIBEXEC_FROM_BIN).lexically_normal()};
    }
    const std::string file = fmt::format("wye-{}", name);
    std::string tried;
    for (const fs::path& folder : folders) {
        const std::string path = (folder / file).string();
        std::string self = path;
        std::vector<char*> words = {self.data()};
        for (std::string& argument : arguments) words.push_back(argument.data());
        words.push_back(nullptr);
        ::execv(path.c_str(), words.data());
        tried += (tried.empty() ? "" : ", ") + path;
    }
    (void)fail(
        Error(Code::MISSING_DEPENDENCY,
              fmt::format("the helper program `{}` was not found ({})", file, tried),
              "Fix: install the package that has it, or set WYE_LIBEXEC to the folder of that "
              "program",
              file));
    return kFailed;
}

}  // namespace wye::tool
