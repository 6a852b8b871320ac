// SPDX-License-Identifier: Apache-2.0
#include "cpu/discovery.hpp"

#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <fstream>
#endif

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/machine/limits.hpp"

namespace wye::cpu {
namespace {

std::uint64_t system_value(int name) {
    const long value = sysconf(name);
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

#if defined(__x86_64__)

std::string trimmed(std::string_view text) {
    text = text.substr(0, text.find('\0'));
    const std::size_t first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

// Uses the instruction cpuid. /proc/cpuinfo has the same texts, but reading it is slow, since the
// system then asks each processor for its frequency.
void read_processor(DeviceInfo& info) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __cpuid(0, a, b, c, d);
    const unsigned vendor[] = {b, d, c};
    info.vendor = trimmed({reinterpret_cast<const char*>(vendor), sizeof vendor});
    constexpr unsigned kFirst = 0x80000002;  // the name has three parts of 16 bytes
    __cpuid(0x80000000, a, b, c, d);
    if (a < kFirst + 2) return;
    unsigned name[3][4];
    for (unsigned i = 0; i < 3; ++i)
        __cpuid(kFirst + i, name[i][0], name[i][1], name[i][2], name[i][3]);
    info.name = trimmed({reinterpret_cast<const char*>(name), sizeof name});
}

#else

void read_processor(DeviceInfo& info) {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line) && (info.name.empty() || info.vendor.empty())) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        const auto first = line.find_first_not_of(" \t", colon + 1);
        if (first == std::string::npos) continue;
        if (key == "model name" && info.name.empty()) info.name = line.substr(first);
        if (key == "vendor_id" && info.vendor.empty()) info.vendor = line.substr(first);
    }
}

#endif

// Numbers of the processors that this process may use; empty: unknown.
std::vector<unsigned> processor_numbers() {
    std::vector<unsigned> out;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &set)) out.push_back(i);
    return out;
}

}  // namespace

std::uint64_t free_bytes() { return std::min(available_bytes(), read_limits().free_bytes); }

DeviceInfo describe(unsigned threads, std::string isa) {
    DeviceInfo info;
    read_processor(info);
    if (info.name.empty()) info.name = "CPU";
    info.isa = std::move(isa);
    info.threads = threads;
    info.physical_bytes = system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE);
    info.memory_bytes = info.physical_bytes;
    info.memory_source = "sysconf(_SC_PHYS_PAGES)";
    const Limits limits = read_limits();
    if (limits.memory_bytes < info.memory_bytes) {
        info.memory_bytes = limits.memory_bytes;
        info.memory_source = "memory limit of the control group";
    }
    const std::uint64_t free = std::min(available_bytes(), limits.free_bytes);
    if (free != UINT64_MAX) info.free_at_probe = free;
    info.quota = limits.processors;
    info.online = system_value(_SC_NPROCESSORS_ONLN);
    info.numa = numa_node(processor_numbers());
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    info.l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE);
    info.l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE);
    info.l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE);
#endif
    return info;
}

}  // namespace wye::cpu
