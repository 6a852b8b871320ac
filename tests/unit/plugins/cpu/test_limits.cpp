// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "cpu/machine/limits.hpp"
#include "support/temp_dir.hpp"

namespace test_limits {

using namespace wye::cpu;
using Numbers = std::vector<unsigned>;

TEST_CASE("the least limit of the groups above counts, in version 2") {
    const support::TempDir machine;
    machine.write("proc/self/cgroup", "0::/user/app");
    machine.write("sys/fs/cgroup/user/app/memory.max", "max");
    machine.write("sys/fs/cgroup/user/app/cpu.max", "150000 100000");
    machine.write("sys/fs/cgroup/user/memory.max", "1000000");
    machine.write("sys/fs/cgroup/user/memory.current", "400000");
    machine.write("sys/fs/cgroup/user/cpu.max", "400000 100000");
    machine.write("sys/fs/cgroup/memory.max", "2000000");
    machine.write("sys/fs/cgroup/memory.current", "1950000");
    const Limits limits = read_limits(machine.path());
    CHECK(limits.memory_bytes == 1000000);
    CHECK(limits.free_bytes == 50000);  // of the root group, which is nearly full
    CHECK(limits.processors == 1.5);
}

TEST_CASE("version 1 has a folder for each controller, and its largest number means no limit") {
    const support::TempDir machine;
    machine.write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/");
    machine.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
    machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000");
    machine.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "6000");
    machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000");
    machine.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    machine.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    const Limits limits = read_limits(machine.path());
    CHECK(limits.memory_bytes == 5000);
    CHECK(limits.free_bytes == 0);
    CHECK(limits.processors == 0.5);
}

TEST_CASE("in a container the path is the machine's, and the root holds the limit") {
    const support::TempDir machine;
    machine.write("proc/self/cgroup", "0::/docker/0123abcd");
    machine.write("sys/fs/cgroup/memory.max", "4096");
    CHECK(read_limits(machine.path()).memory_bytes == 4096);
    machine.write("proc/self/cgroup", "0::/../../outside");
    CHECK(read_limits(machine.path()).memory_bytes == 4096);
}

TEST_CASE("files that are absent or malformed limit nothing") {
    const support::TempDir machine;
    CHECK(read_limits(machine.path()).memory_bytes == UINT64_MAX);
    CHECK(available_bytes(machine.path()) == UINT64_MAX);
    CHECK_FALSE(numa_node({0}, machine.path()).has_value());
    machine.write("proc/self/cgroup", "nonsense\n::\n0::relative\n0::/x");
    machine.write("sys/fs/cgroup/x/memory.max", "-5");
    machine.write("sys/fs/cgroup/x/cpu.max", "max 100000");
    machine.write("sys/fs/cgroup/cpu.max", "100 0");
    machine.write("proc/meminfo", "MemTotal: 5 kB\nMemAvailable:\n");
    const Limits limits = read_limits(machine.path());
    CHECK(limits.memory_bytes == UINT64_MAX);
    CHECK(limits.free_bytes == UINT64_MAX);
    CHECK(limits.processors == 0);
    CHECK(available_bytes(machine.path()) == UINT64_MAX);
    machine.write("proc/meminfo", "MemTotal: 5 kB\nMemAvailable:    3 kB");
    CHECK(available_bytes(machine.path()) == 3072);
}

TEST_CASE("processors of one NUMA node have it, others none") {
    const support::TempDir machine;
    machine.write("sys/devices/system/node/online", "0-1");
    machine.write("sys/devices/system/node/node0/cpulist", "0-3,8-11");
    machine.write("sys/devices/system/node/node1/cpulist", "4-7,12-15");
    CHECK(numa_node({0, 9}, machine.path()) == 0U);
    CHECK(numa_node({5, 12}, machine.path()) == 1U);
    CHECK_FALSE(numa_node({0, 4}, machine.path()).has_value());
    CHECK_FALSE(numa_node({99}, machine.path()).has_value());
}

TEST_CASE("lists of the kernel are read whole or not at all") {
    CHECK(parse_list("0-2,5") == Numbers{0, 1, 2, 5});
    CHECK(parse_list("5,0") == Numbers{0, 5});
    CHECK(parse_list("7") == Numbers{7});
    for (const char* text :
         {"", "x", "1-", "3-1", "1,", ",1", "1-2-3", "0-4294967295", "4294967296", "1 2"})
        CHECK(parse_list(text).empty());
    CHECK(parse_list("4294967295") == Numbers{4294967295U});
}

TEST_CASE("this machine's figures are those of the system") {
    const Limits limits = read_limits();
    CHECK(limits.free_bytes <= limits.memory_bytes);
    CHECK(available_bytes() > 0);
}

}  // namespace test_limits
