// SPDX-License-Identifier: Apache-2.0
//
// DeviceInfo: the machine and its properties. The probe reads them once; then they never change, so
// that any thread may read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/device_info.hpp"

namespace wye::cpu {

struct DeviceInfo : sdk::DeviceInfo {
    std::string vendor;  // as reported by the processor, or empty
    std::string isa;     // the name of the kernel set in use
    unsigned threads = 1;
    std::uint64_t memory_bytes = 0;  // memory that this process may use
    std::string_view memory_source;
    std::uint64_t physical_bytes = 0;
    std::uint64_t free_at_probe = 0;  // 0: unknown
    std::uint64_t l1_bytes = 0;       // 0: unknown
    std::uint64_t l2_bytes = 0;
    std::uint64_t l3_bytes = 0;
    std::uint64_t online = 0;      // processors of the machine that are online
    double quota = 0;              // limit of processor time, in processors; 0: none
    std::optional<unsigned> numa;  // the NUMA node that has all usable processors

    [[nodiscard]] std::uint64_t most_alignment() const { return UINT64_MAX; }  // any alignment
    [[nodiscard]] std::uint64_t host_memory_alignment() const { return 1; }
};

// Memory that this process can still allocate; UINT64_MAX: unknown.
[[nodiscard]] std::uint64_t free_bytes();

// Reads the machine's properties.
[[nodiscard]] DeviceInfo describe(unsigned threads, std::string isa);

// Answers one fact of the table in wye/abi.h.
[[nodiscard]] wye_status fact(const DeviceInfo& info, std::uint32_t key, wye_fact& out);

}  // namespace wye::cpu
