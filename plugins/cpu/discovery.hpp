// SPDX-License-Identifier: Apache-2.0
//
// What the machine is, read once from the system. Immutable afterwards; strings live as long.
#pragma once

#include <cstdint>
#include <string>

#include "wye/abi.h"

namespace wye::cpu {

struct Facts {
    std::string name;    // "Intel(R) Xeon(R) Processor"
    std::string vendor;  // as the processor names it, or empty
    std::string isa;     // the kernel build in use
    unsigned threads = 1;
    std::uint64_t memory_bytes = 0;
    std::uint64_t l1_bytes = 0;  // 0: unknown
    std::uint64_t l2_bytes = 0;
};

// Reads the machine. `threads` 0: one for each processor that this process may use.
[[nodiscard]] Facts read_facts(unsigned threads, std::string isa);

// One fact: WYE_OK, WYE_UNSUPPORTED (not reported) or WYE_UNKNOWN_KEY.
wye_status fact(const Facts& facts, std::uint32_t key, wye_fact& out);

}  // namespace wye::cpu
