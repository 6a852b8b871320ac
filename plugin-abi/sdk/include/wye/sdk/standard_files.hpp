// SPDX-License-Identifier: Apache-2.0
//
// For programs: keeps other files from getting the descriptors 0 to 2. If a program is started with
// one of these closed (`2>&-`), the next file that the program opens gets that number, and the
// program's output ends up in that file.
#pragma once

#include <fcntl.h>

namespace wye::sdk {

// Opens /dev/null under each of the descriptors 0 to 2 that is closed. Call it first in `main`.
inline void open_standard_files() noexcept {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) >= 0) continue;
        // The system gives the lowest free number, which is this descriptor. Without /dev/null,
        // opens `/` in a mode in which every use fails.
        if (::open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY) < 0)
            (void)::open("/", O_PATH);
    }
}

}  // namespace wye::sdk
