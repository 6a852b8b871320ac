// SPDX-License-Identifier: Apache-2.0
//
// What this process may use of the machine: limits of its control groups (versions 1 and 2), and
// figures of the kernel. Reads files; keeps nothing. Free-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wye::cpu {

struct Limits {
    std::uint64_t memory_bytes = UINT64_MAX;  // the least of all groups above; UINT64_MAX: none
    std::uint64_t free_bytes = UINT64_MAX;    // of that limit; UINT64_MAX: no limit
    double processors = 0;                    // time of so many processors; 0: no limit
};

// `root`: the folder that has proc and sys, for tests; "" is the machine's.
[[nodiscard]] Limits read_limits(const std::string& root = {});

// MemAvailable of /proc/meminfo; UINT64_MAX: unknown.
[[nodiscard]] std::uint64_t available_bytes(const std::string& root = {});

// The NUMA node of all these processors; nullopt: they are of several, or it is unknown.
[[nodiscard]] std::optional<unsigned> numa_node(const std::vector<unsigned>& processors,
                                                const std::string& root = {});

// The numbers of a list as the kernel writes it: "0-2,5". Empty if it is malformed or longer than
// 65536.
[[nodiscard]] std::vector<unsigned> parse_list(std::string_view text);

}  // namespace wye::cpu
