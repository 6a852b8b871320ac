// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the tests of this folder that take the value of a result, which must be a success.
#pragma once

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

#include "wye/sdk/result.hpp"

namespace api_test {

// The value, if it has one; else the test fails with the error's text.
template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) MESSAGE(result.error().text());
    REQUIRE(result.ok());
    if constexpr (!std::is_void_v<T>) return std::move(result).value();
}
inline void need(wye::Result<void> result) { take(std::move(result)); }

}  // namespace api_test
