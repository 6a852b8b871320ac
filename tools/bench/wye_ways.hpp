// SPDX-License-Identifier: Apache-2.0
//
// Wye's side of each row, through the public API.
#pragma once

#include <optional>

#include "rows.hpp"
#include "way.hpp"
#include "wye/wye.hpp"

namespace wye::bench {

struct Target {
    Context context;
    Device device;
    std::string selector, name, plugin;
    bool soft = false;                      // whether the device shares the host's processors
    std::uint64_t most_bytes = UINT64_MAX;  // size of the device's largest buffer
};

// Opens the selector's device. Errors: those of wye_device_open, such as NO_DEVICE.
[[nodiscard]] Result<Target> open_target(const std::string& selector);

// Wye's way of a row; nullopt for rows that this kind of device does not have, and for `Million`
// (see million.hpp).
[[nodiscard]] Result<std::optional<Way>> wye_way(const Target& target, RowId row,
                                                 const Sizes& sizes);

// The tiny program: each word of `words` becomes advance(word, 1).
inline constexpr std::string_view kAdvance = R"wye(
wye 1;
program advance;
workgroup 64;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) { words[i] = words[i] * 1664525u + 1013904223u; }
}
)wye";
inline constexpr std::uint64_t kTinyWords = 64;

}  // namespace wye::bench
