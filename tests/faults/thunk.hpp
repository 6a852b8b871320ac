// SPDX-License-Identifier: Apache-2.0
//
// Thunk: stands for one function of a driver, and lets it fail before or after the real call. The
// driver proxies share this file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "faults/modules.h"

namespace faults {

inline constexpr std::uint32_t kDriverCall = 4;

// The name of a driver function, as a template argument. Each name makes a type of its own.
template <std::size_t N>
struct Name {
    char text[N]{};
    constexpr Name(const char (&from)[N]) {
        for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
    }
    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

constexpr bool begins(std::string_view name, std::string_view with) {
    return name.substr(0, with.size()) == with;
}
template <std::size_t N>
constexpr bool one_of(std::string_view name, const char* const (&list)[N]) {
    for (const char* entry : list)
        if (name == entry) return true;
    return false;
}

// `Rules` has only static members. find(name): looks up the real function. does_first(name):
// whether the real function is called before a fault is reported. failure<R>(name, arguments...):
// the result of a failed call. made(name, result, arguments...) and freed(name, arguments...):
// count the driver's objects.
template <typename Rules, Name kName, typename Function>
struct Thunk;
template <typename Rules, Name kName, typename R, typename... A>
struct Thunk<Rules, kName, R (*)(A...)> {
    // Several threads may set this, but always to the same value.
    static inline R (*real)(A...) = nullptr;

    static R call(A... a) {
        constexpr std::string_view name = kName.view();
        if (real == nullptr) real = reinterpret_cast<R (*)(A...)>(Rules::find(kName.text));
        if constexpr (std::is_void_v<R>) {
            Rules::freed(name, a...);
            real(a...);
        } else {
            if (faults_hit(kDriverCall, kName.text) == 0) {
                const R result = real(a...);
                Rules::made(name, result, a...);
                return result;
            }
            if (Rules::does_first(name)) Rules::made(name, real(a...), a...);
            return Rules::template failure<R>(name, a...);
        }
    }
};

template <typename... A>
auto last_of(A... a) {
    return std::get<sizeof...(A) - 1>(std::tuple<A...>(a...));
}

}  // namespace faults
