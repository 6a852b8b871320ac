#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands for a CI. They build the plugin with Meson and with CMake, with warnings as errors. They run all tests on the
# first build and one program on the second. They need the packages libwye-dev and wye-tools, or an installed Wye that
# PKG_CONFIG_PATH, CMAKE_PREFIX_PATH and PATH name.
set -eu
cd "$(dirname "$0")"
rm -rf build-meson build-cmake
meson setup build-meson -Dwerror=true
meson compile -C build-meson
meson test -C build-meson --print-errorlogs
cmake -S . -B build-cmake -DCMAKE_CXX_FLAGS=-Werror
cmake --build build-cmake
(cd build-cmake && ctest --output-on-failure -R program)
