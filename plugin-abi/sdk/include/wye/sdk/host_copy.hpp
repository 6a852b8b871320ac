// SPDX-License-Identifier: Apache-2.0
//
// A copy that the host makes itself, of memory that lives until then.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace wye::sdk {

struct HostCopy {
    void* target;
    const void* source;
    std::uint64_t size;
};

// Makes them in order, and forgets them.
inline void run(std::vector<HostCopy>& copies) {
    for (const HostCopy& copy : copies)
        if (copy.size != 0) std::memcpy(copy.target, copy.source, copy.size);
    copies.clear();
}

}  // namespace wye::sdk
