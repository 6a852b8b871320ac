// SPDX-License-Identifier: Apache-2.0
//
// make_own_folders: makes a folder and its missing parents, for this user only.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace wye::sdk {

// The mode is 0700, whatever the file mode mask of the process is. Returns the folder that cannot
// be made, with errno set, else an empty text.
[[nodiscard]] inline std::string make_own_folders(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        std::string part = path.substr(0, at);
        const bool made = ::mkdir(part.c_str(), 0700) == 0 && ::chmod(part.c_str(), 0700) == 0;
        if (!made && errno != EEXIST && errno != EROFS) return part;
        if (at == std::string::npos) return {};
    }
}

}  // namespace wye::sdk
