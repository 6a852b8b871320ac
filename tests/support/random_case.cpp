// SPDX-License-Identifier: Apache-2.0
#include "support/random_case.hpp"

#include <algorithm>
#include <iterator>

namespace support {

RandomProgramOptions options_for(const Device& device) {
    RandomProgramOptions options;
    options.int64 = device.has("int64");
    options.f32 = device.has("ieee_f32");
    options.f64 = device.has("ieee_f64");
    options.storage16 = device.has("storage16");
    options.largest_group = static_cast<unsigned>(
        std::min<std::uint64_t>(device.limit("max_workgroup_invocations", 256), 4096));
    options.subgroups = device.subgroup_sizes();
    options.atomic_int64 = device.has("atomic_int64");
    options.atomic_int64_shared = device.has("atomic_int64_shared");
    return options;
}

Case random_case(std::uint64_t seed, const RandomProgramOptions& device, bool traps) {
    RandomProgramOptions options = device;
    options.traps = traps;
    // Most programs are small, because compile time grows with size.
    static constexpr unsigned kSizes[] = {4, 12, 6, 30, 8, 12, 4, 16};
    options.size = kSizes[seed % std::size(kSizes)];
    options.grid_barriers = seed % 5 == 2;
    if (seed % 5 == 4 && device.int64 && device.f32 && device.f64)
        options.math = 1 + static_cast<unsigned>(seed / 5 % 2);
    options.kept = seed % 3 == 1 && !traps;
    options.many_groups = seed % 199 == 100;
    if (options.many_groups) options.size = 2;
    RandomProgram random = random_program(seed, options);
    Case out;
    out.text = std::move(random.text);
    out.launch.params = std::move(random.values);
    if (!random.clause) out.launch.groups = random.groups;
    for (auto& b : random.buffers)
        out.launch.buffers.push_back({b.name, b.input, b.output, std::move(b.before)});
    out.resident = options.kept;
    out.may_trap = traps;
    return out;
}

}  // namespace support
