// SPDX-License-Identifier: Apache-2.0
//
// The script of the mock plugin, which describes its devices. It has lines of KEY = VALUE. `#`
// begins a comment, and `device = NAME` the next device. plugins/layers/README.md lists the keys.
// Pure.
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

// The value of a fact, with the type that the contract gives its key.
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
    std::vector<wye_string> format_views;  // views of `formats`
    std::map<std::uint32_t, Fact> facts;   // by key; other facts are not reported
    // The value of each byte that a dispatch writes; nullopt: a dispatch writes nothing.
    std::optional<unsigned char> output;
    std::uint64_t compile_ns = 0;        // time to make a program
    std::uint64_t dispatch_ns = 10'000;  // time of a dispatch
    std::uint64_t transfer_ns = 5'000;   // time of a copy, fill, upload or download

    [[nodiscard]] std::uint64_t most_alignment() const { return 1U << 20U; }
    [[nodiscard]] std::uint64_t memory_bytes() const;
};

// Returns a device with the facts of a common GPU, which accepts the format wye-program.
[[nodiscard]] DeviceInfo common_device();

// Parses a script. An empty script describes one common device. Error: INVALID_ARGUMENT, which
// names the line and its fault.
[[nodiscard]] Result<std::vector<DeviceInfo>> parse_script(std::string_view script,
                                                           const std::string& path);

}  // namespace wye::mock
