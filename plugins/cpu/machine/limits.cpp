// SPDX-License-Identifier: Apache-2.0
#include "cpu/machine/limits.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace wye::cpu {
namespace {

constexpr unsigned kMostListed = 65536;
constexpr unsigned kMostNodes = 1024;

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// The number at the beginning of a text; nullopt for "max" and other words.
std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{}) return std::nullopt;
    return value;
}

// A hierarchy of control groups: where its files are, and this process's group in it.
struct Hierarchy {
    std::string mount;  // "/sys/fs/cgroup/memory"
    std::string group;  // "/a/b"; "/" is the root of the hierarchy or namespace
};

// Calls visit(folder) for the group and each group above it. In a container, the path may be a
// path of the machine that is not mounted in the container. Absent folders give no limit.
template <typename Visit>
void each_group(const Hierarchy& hierarchy, Visit visit) {
    std::string group = hierarchy.group;
    if (group.find("/..") != std::string::npos) group = "/";  // outside the cgroup namespace
    while (true) {
        visit(hierarchy.mount + (group == "/" ? std::string() : group));
        if (group.empty() || group == "/") return;
        group.resize(group.rfind('/'));
    }
}

void take_memory(const std::string& limit_file, const std::string& usage_file, Limits& out) {
    const auto limit = number_in(first_line(limit_file));
    if (!limit || *limit < 0) return;
    const auto bytes = static_cast<std::uint64_t>(*limit);
    if (bytes >= UINT64_MAX / 4) return;  // cgroup version 1: its largest number means no limit
    out.memory_bytes = std::min(out.memory_bytes, bytes);
    const std::int64_t usage = number_in(first_line(usage_file)).value_or(0);
    const std::uint64_t used =
        std::min(bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(usage, 0)));
    out.free_bytes = std::min(out.free_bytes, bytes - used);
}

void take_quota(std::optional<std::int64_t> quota, std::optional<std::int64_t> period,
                Limits& out) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const double processors = static_cast<double>(*quota) / static_cast<double>(*period);
    out.processors = out.processors == 0 ? processors : std::min(out.processors, processors);
}

void read_version_1(const std::string& root, const std::string& controllers,
                    const std::string& group, Limits& out) {
    const auto has = [&](std::string_view name) {
        return ("," + controllers + ",").find("," + std::string(name) + ",") != std::string::npos;
    };
    if (has("memory"))
        each_group({root + "/sys/fs/cgroup/memory", group}, [&](const std::string& folder) {
            take_memory(folder + "/memory.limit_in_bytes", folder + "/memory.usage_in_bytes", out);
        });
    if (has("cpu"))
        each_group({root + "/sys/fs/cgroup/cpu", group}, [&](const std::string& folder) {
            const auto quota = number_in(first_line(folder + "/cpu.cfs_quota_us"));
            if (quota && *quota > 0)  // -1: no limit
                take_quota(quota, number_in(first_line(folder + "/cpu.cfs_period_us")), out);
        });
}

void read_version_2(const std::string& root, const std::string& group, Limits& out) {
    each_group({root + "/sys/fs/cgroup", group}, [&](const std::string& folder) {
        take_memory(folder + "/memory.max", folder + "/memory.current", out);
        const std::string quota = first_line(folder + "/cpu.max");  // "QUOTA PERIOD"
        const std::size_t space = quota.find(' ');
        if (space != std::string::npos)
            take_quota(number_in(quota), number_in(std::string_view(quota).substr(space + 1)), out);
    });
}

}  // namespace

Limits read_limits(const std::string& root) {
    Limits out;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // "4:memory:/a/b", or "0::/a/b"
        const std::size_t first = line.find(':');
        if (first == std::string::npos) continue;
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos || second + 1 >= line.size()) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string group = line.substr(second + 1);
        if (group.front() != '/') continue;
        if (controllers.empty())
            read_version_2(root, group, out);
        else
            read_version_1(root, controllers, group, out);
    }
    return out;
}

std::uint64_t available_bytes(const std::string& root) {
    constexpr std::string_view kName = "MemAvailable:";
    std::ifstream file(root + "/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(kName)) continue;
        const std::size_t digits = line.find_first_not_of(' ', kName.size());
        if (digits == std::string::npos) break;
        const auto kib = number_in(std::string_view(line).substr(digits));
        if (!kib || *kib < 0 || *kib > INT64_MAX / 1024) break;
        return static_cast<std::uint64_t>(*kib) * 1024;
    }
    return UINT64_MAX;
}

std::optional<unsigned> numa_node(const std::vector<unsigned>& processors,
                                  const std::string& root) {
    const std::string nodes = root + "/sys/devices/system/node/";
    const std::vector<unsigned> online = parse_list(first_line(nodes + "online"));
    if (processors.empty() || online.size() > kMostNodes) return std::nullopt;
    if (online.size() == 1) return online.front();
    for (const unsigned node : online) {
        const auto own = parse_list(first_line(nodes + "node" + std::to_string(node) + "/cpulist"));
        const auto in_node = [&](unsigned processor) {
            return std::ranges::binary_search(own, processor);
        };
        if (!in_node(processors.front())) continue;
        if (std::ranges::all_of(processors, in_node)) return node;
        return std::nullopt;
    }
    return std::nullopt;
}

std::vector<unsigned> parse_list(std::string_view text) {
    std::vector<unsigned> out;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        unsigned from = 0;
        const auto first = std::from_chars(at, end, from);
        if (first.ec != std::errc{}) return {};
        unsigned to = from;
        at = first.ptr;
        if (at != end && *at == '-') {
            const auto last = std::from_chars(at + 1, end, to);
            if (last.ec != std::errc{}) return {};
            at = last.ptr;
        }
        if (to < from || to - from >= kMostListed || out.size() + (to - from) >= kMostListed)
            return {};
        for (unsigned i = from; i <= to && out.size() <= kMostListed; ++i) {
            out.push_back(i);
            if (i == to) break;
        }
        if (at == end) break;
        if (*at++ != ',' || at == end) return {};
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace wye::cpu
