// SPDX-License-Identifier: Apache-2.0
#include "differential/random_case.hpp"

namespace differential {

support::RandomProgramOptions options_for(const conformance::Device& device) {
    support::RandomProgramOptions options;
    options.int64 = device.has("int64");
    options.f32 = device.has("ieee_f32");
    options.f64 = device.has("ieee_f64");
    options.storage16 = device.has("storage16");
    options.subgroups = device.subgroup_sizes();
    options.atomic_int64 = device.has("atomic_int64");
    options.atomic_int64_shared = device.has("atomic_int64_shared");
    return options;
}

Case random_case(std::uint64_t seed, const support::RandomProgramOptions& device, bool traps) {
    support::RandomProgramOptions options = device;
    options.traps = traps;
    options.size = seed % 4 == 3 ? 30 : 12;
    options.grid_barriers = seed % 5 == 2;
    options.math = seed % 5 == 4 && device.int64 && device.f32 && device.f64;
    support::RandomProgram random = support::random_program(seed, options);
    Case out;
    out.text = std::move(random.text);
    out.launch.params = std::move(random.values);
    out.launch.groups = random.groups;
    for (auto& b : random.buffers)
        out.launch.buffers.push_back({b.name, b.input, b.output, std::move(b.before)});
    out.resident = seed % 3 == 1 && !traps;
    out.may_trap = traps;
    return out;
}

}  // namespace differential
