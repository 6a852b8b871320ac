// SPDX-License-Identifier: Apache-2.0
//
// The script of the mock plugin: what its devices are. Lines of KEY = VALUE; `#` begins a comment,
// and `device = NAME` the next device. plugins/layers/README.md lists the keys. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/device_info.hpp"

namespace wye::mock {

// The value of a fact, of the type that the contract gives its key.
struct Fact {
    std::uint32_t type = WYE_FACT_NONE;
    std::uint64_t u = 0;
    double f = 0;
    std::uint32_t xyz[3] = {};
    std::string text;
    std::vector<std::uint64_t> list;
};

struct DeviceInfo : sdk::DeviceInfo {
    std::vector<std::string> formats;
    std::vector<wye_string> format_views;  // of `formats`
    std::map<std::uint32_t, Fact> facts;   // by key; others are not reported
    std::optional<unsigned char> output;   // every byte that a dispatch writes; none: nothing is
    std::uint64_t compile_ns = 0;          // what a program takes
    std::uint64_t dispatch_ns = 10'000;    // what a dispatch takes
    std::uint64_t transfer_ns = 5'000;     // what a copy, fill, upload or download takes

    [[nodiscard]] std::uint64_t most_alignment() const { return 1U << 20U; }
    [[nodiscard]] std::uint64_t memory_bytes() const;
};

// A device with the facts of a common GPU, which accepts the format wye-program.
[[nodiscard]] DeviceInfo common_device();

// INVALID_ARGUMENT names the line and what is wrong with it. An empty script is one common device.
[[nodiscard]] Result<std::vector<DeviceInfo>> parse_script(std::string_view script,
                                                           const std::string& path);

}  // namespace wye::mock
