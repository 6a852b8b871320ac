// SPDX-License-Identifier: Apache-2.0
//
// Included before all else, so that an older C++ gets this error first.
#pragma once

#if __cplusplus < 202002L
#error \
    "Wye's C++ headers need C++20: add -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#endif
