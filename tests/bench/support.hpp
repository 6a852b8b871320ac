// SPDX-License-Identifier: Apache-2.0
//
// Unwraps results. A failure is printed and ends the process, since a benchmark has nothing to
// save.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "wye/sdk/result.hpp"

namespace wye::bench {

template <typename T>
[[nodiscard]] T must(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
}

inline void must(Result<void> result) {
    if (result.ok()) return;
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
}

}  // namespace wye::bench
