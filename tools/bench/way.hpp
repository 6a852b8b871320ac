// SPDX-License-Identifier: Apache-2.0
//
// Way: one of the ways to do a row's work, Wye's or a raw API's, ready to be repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::bench {

// A base class of objects that can be neither copied nor moved.
struct Fixed {
    Fixed() = default;
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;
};

// The error of a driver call that failed, with the driver's own code, which `header` explains.
[[nodiscard]] inline Error call_failed(const char* domain, const char* header, std::int64_t code,
                                       const char* call) {
    Error error(Code::DRIVER, std::string(call) + " gives " + std::to_string(code),
                std::string("Fix: look up the number in ") + header);
    error.native_domain = domain;
    error.native_code = code;
    return error;
}

// A way to do a row's work, with all objects that it needs. Used by one thread.
struct Way {
    std::string name;
    // Does the whole work of the row `times` times, and waits for it.
    std::function<Result<void>(std::uint64_t times)> run;
    // Checks the device's results. INTERNAL: they are wrong.
    std::function<Result<void>()> check;
};

// Makes a way: `once` does the work one time, and `check` gets the number of runs so far.
template <typename Once, typename Check>
[[nodiscard]] Way repeated(std::string name, Once once, Check check) {
    const auto runs = std::make_shared<std::uint64_t>(0);
    return {std::move(name),
            [=](std::uint64_t times) -> Result<void> {
                for (std::uint64_t i = 0; i < times; ++i) WYE_TRY(once());
                *runs += times;
                return {};
            },
            [=] { return check(*runs); }};
}

// Adds `way` to `ways`. If `way` is an error, returns the error instead.
[[nodiscard]] inline Result<void> add(std::vector<Way>& ways, Result<Way> way) {
    if (!way.ok()) return std::move(way).error();
    ways.push_back(std::move(way).value());
    return {};
}

// The value after `steps` steps from `value`. A tiny dispatch does one step for each word.
[[nodiscard]] constexpr std::uint32_t advance(std::uint32_t value, std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) value = value * 1664525U + 1013904223U;
    return value;
}

[[nodiscard]] inline Result<void> expect_word(std::uint32_t got, std::uint32_t wanted,
                                              const std::string& what) {
    if (got == wanted) return {};
    return Error(
        Code::INTERNAL,
        what + " computed " + std::to_string(got) + " in place of " + std::to_string(wanted),
        "Fix: report this");
}

}  // namespace wye::bench
