// SPDX-License-Identifier: Apache-2.0
//
// How long a wait polls a GPU's driver before it blocks. Waking a blocked thread takes some 50 us,
// which matters little after the default of 2 ms.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "wye/sdk/plugin.hpp"
#include "wye/sdk/result.hpp"

namespace wye::sdk {

inline constexpr std::uint32_t kSpinMicroseconds = 2000;

// The polling time in nanoseconds, from the configuration's `key`, which is in microseconds
// ("cuda.spin_us").
[[nodiscard]] inline Result<std::uint64_t> spin_ns(const wye_host_table& host, const char* key) {
    std::uint32_t value = kSpinMicroseconds;
    if (const std::optional<std::string> text = config(host, key)) {
        const auto [end, status] =
            std::from_chars(text->data(), text->data() + text->size(), value);
        if (status != std::errc{} || end != text->data() + text->size())
            return Error(
                Code::INVALID_ARGUMENT,
                "`" + std::string(key) + "` is `" + *text + "`, which is no number of microseconds",
                "Fix: give a whole number, such as 2000", key);
    }
    return std::uint64_t{value} * 1000;
}

}  // namespace wye::sdk
