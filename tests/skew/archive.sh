#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the files of this state of the sources that skew_check.py needs later, and stores them as
# archives/draft-N-DATE.tar.xz. They are the library, an application, the plugins null, cpu (also as cpu_file) and vendor,
# without symbols, and archive.json with the draft, the date of the last commit and the numbers of the ABI. To be small they
# have no debugging data, are optimised for size, and have the baseline kernels only.
#
#   archive.sh [BUILD]    BUILD: a folder for the build, which is kept; without one, a temporary folder
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
source=$(realpath "$here/../..")
work=$(mktemp -d "${TMPDIR:-/tmp}/wye-archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
build=$(realpath -m "${1:-$work/build}")
. "$source/tools/steps.sh"

if [ ! -e "$build/build.ninja" ]; then
    sections='-ffunction-sections -fdata-sections'
    CFLAGS=$sections CXXFLAGS=$sections LDFLAGS=-Wl,--gc-sections meson setup "$build" "$source" --buildtype=minsize $build_together \
        -Dtests=false -Dtools=false -Dexamples=false -Ddocs=disabled -Dpython=disabled -Dopencl=disabled -Dvulkan=disabled \
        -Dcuda=disabled -Dinline_fmt=true -Dcpu_kernels=baseline
fi
ninja -C "$build" runtime/libwye.so.0.1.0 plugins/cpu/wye_cpu.so plugins/null/wye_null.so

mkdir "$work/files"
cd "$work/files"
cp "$build/runtime/libwye.so.0.1.0" libwye.so.0
cp "$build/plugins/cpu/wye_cpu.so" "$build/plugins/null/wye_null.so" .
compile=(gcc -std=c11 -Os -fvisibility=hidden "-I$source/plugin-abi/include" "-I$source/runtime/include")
"${compile[@]}" -shared -fPIC "$here/vendor_plugin.c" -o wye_vendor.so
"${compile[@]}" -shared -fPIC "$here/renamed_cpu.c" -o cpu_file.so -ldl
"${compile[@]}" "$here/application.c" -o application ./libwye.so.0
strip --strip-unneeded -- *

number() { sed -nE "s/^#define WYE_ABI_$1 ([0-9]+).*/\1/p" "$source/plugin-abi/include/wye/abi.h"; }
date=$(git -C "$source" log -1 --format=%cs)
printf '{"draft": %d, "major": %d, "minor": %d, "version": "%s", "date": "%s", "arch": "%s"}\n' "$(number DRAFT)" "$(number MAJOR)" \
    "$(number MINOR)" "$(meson introspect --projectinfo "$build" | sed -E 's/.*"version": "([^"]*)".*/\1/')" "$date" "$(uname -m)" >archive.json
archive=$here/archives/draft-$(number DRAFT)-$date.tar.xz
mkdir -p "$here/archives"
# The library and the plugin have code in common, which the compressor finds with a window larger than both.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" -c -- * | xz --x86 --lzma2=preset=9e,dict=64MiB >"$work/archive"
mv "$work/archive" "$archive"
ls -l "$archive"
