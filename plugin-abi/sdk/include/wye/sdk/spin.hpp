// SPDX-License-Identifier: Apache-2.0
//
// How long a wait polls a GPU's driver before it blocks. Waking a blocked thread takes some 50 us,
// which matters little after the default of 2 ms.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "wye/sdk/numbers.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/result.hpp"

namespace wye::sdk {

inline constexpr std::uint32_t kSpinMicroseconds = 2000;

// The configuration's value of `key`, converted from microseconds to nanoseconds. Without the key,
// converts the default `value`.
[[nodiscard]] inline Result<std::uint64_t> nanoseconds_in(const wye_host_table& host,
                                                          const char* key, std::uint32_t value) {
    if (const std::optional<std::string> text = config(host, key)) {
        const auto given = parse_number<std::uint32_t>(*text);
        if (!given)
            return Error(
                Code::INVALID_ARGUMENT,
                "`" + std::string(key) + "` is `" + *text + "`, which is no number of microseconds",
                "Fix: give a whole number, such as 2000", key);
        value = *given;
    }
    return std::uint64_t{value} * 1000;
}

// The polling time in nanoseconds ("cuda.spin_us").
[[nodiscard]] inline Result<std::uint64_t> spin_ns(const wye_host_table& host, const char* key) {
    return nanoseconds_in(host, key, kSpinMicroseconds);
}

// How long the next wait of a queue polls: the whole polling time, as long as waits end within it.
// After a wait that took longer, the next wait polls for an eighth of the polling time, since it
// will probably take long too. Free-threaded.
class SpinTime {
  public:
    // `most_ns`: the whole time; 0: waits do not poll.
    explicit SpinTime(std::uint64_t most_ns) : most_ns_(most_ns) {}

    [[nodiscard]] std::uint64_t next_ns() const {
        return shortened_.load(std::memory_order_relaxed) ? most_ns_ / kPart : most_ns_;
    }
    // Called after a wait that took `ns` from its beginning, polling included.
    void waited(std::uint64_t ns) {
        const bool is_long = ns > most_ns_;
        if (is_long != shortened_.load(std::memory_order_relaxed))
            shortened_.store(is_long, std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint64_t kPart = 8;
    const std::uint64_t most_ns_;
    std::atomic<bool> shortened_ = false;
};

}  // namespace wye::sdk
