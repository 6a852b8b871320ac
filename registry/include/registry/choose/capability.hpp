// SPDX-License-Identifier: Apache-2.0
//
// Compares a program's needs with a device's facts. An unreported capability counts as absent, an
// unreported workgroup limit counts as 1, and other unreported limits are left to the driver and
// listed as unverified. Pure; free-threaded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "registry/open/facts.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

struct Requirements {
    std::vector<std::string> capabilities;  // the language's names: "int64", "storage16", ...
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint64_t shared_bytes = 0;
    std::uint64_t private_bytes = 0;
    std::uint64_t param_bytes = 0;
    std::uint64_t buffers = 0;               // bound to the kernel; `shared` memory does not count
    std::uint64_t largest_buffer_bytes = 0;  // 0: unknown before the launch
    std::uint64_t total_bytes = 0;           // sum of the buffers made for the launch; 0: unknown
    bool subgroups = false;                  // needs a subgroup width that divides the workgroup
    std::uint32_t subgroup = 0;              // the required width; 0: any
};

struct Unmet {
    std::string name;    // the fact's name, "max_shared_bytes"
    std::string needed;  // "65536"
    std::string actual;  // "49152", "no", "not reported (counts as 1)"
};

struct CapabilityCheck {
    std::vector<Unmet> unmet;             // in the order of Requirements; empty: the program fits
    std::vector<std::string> unverified;  // limits left to the driver, by fact name
};

[[nodiscard]] CapabilityCheck check(const Requirements& needs, const Facts& facts);

// A text such as "needs max_shared_bytes 65536, has 49152".
[[nodiscard]] std::string to_text(const Unmet& unmet);

}  // namespace wye::registry
