// SPDX-License-Identifier: Apache-2.0
//
// HostCopy: a deferred copy of host memory. Both ranges must live until the copy is made.
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

// Makes the copies in order, and clears the list.
inline void run(std::vector<HostCopy>& copies) {
    for (const HostCopy& copy : copies)
        if (copy.size != 0) std::memcpy(copy.target, copy.source, copy.size);
    copies.clear();
}

}  // namespace wye::sdk
