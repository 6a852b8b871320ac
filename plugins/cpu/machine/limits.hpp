// SPDX-License-Identifier: Apache-2.0
//
// What this process may use of the machine: the limits of its control groups (versions 1 and 2),
// and figures of the operating system. Reads files and keeps nothing. Free-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wye::cpu {

struct Limits {
    std::uint64_t memory_bytes = UINT64_MAX;  // the lowest limit of all groups; UINT64_MAX: none
    std::uint64_t free_bytes = UINT64_MAX;    // least memory left in a group; UINT64_MAX: no limit
    double processors = 0;                    // processor time, in processors; 0: no limit
};

// `root`: the folder that contains proc and sys, for tests; "" is the machine's own root.
[[nodiscard]] Limits read_limits(const std::string& root = {});

// MemAvailable of /proc/meminfo; UINT64_MAX: unknown.
[[nodiscard]] std::uint64_t available_bytes(const std::string& root = {});

// The NUMA node that has all these processors; nullopt if there is no such node, or if it is
// unknown.
[[nodiscard]] std::optional<unsigned> numa_node(const std::vector<unsigned>& processors,
                                                const std::string& root = {});

// Parses a list of numbers in the form of Linux, "0-2,5". Empty if the text is malformed, or lists
// more than 65536 numbers.
[[nodiscard]] std::vector<unsigned> parse_list(std::string_view text);

}  // namespace wye::cpu
