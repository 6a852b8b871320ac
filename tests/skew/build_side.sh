#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds into a folder all that skew_check.py needs of one source tree: the library, an application, the plugins null, cpu (also as
# cpu_file) and vendor, the layers validate and trace, archive.json with the numbers of the ABI, and with --kit the kit wye-conform-abi.
#
#   build_side.sh [--kit] SOURCE BUILD FILES [MESON OPTION...]
set -euo pipefail
kit=
if [ "$1" = --kit ]; then kit=tests/conformance/wye-conform-abi && shift; fi
source=$1 build=$2 files=$3
shift 3
here=$source/tests/skew
. "$source/tools/steps.sh"

if [ ! -e "$build/build.ninja" ]; then
    # The kit is built only with the option `tools`.
    meson setup "$build" "$source" $build_together -Dtests=false -Dtools=$([ -n "$kit" ] && echo true || echo false) -Dexamples=false -Ddocs=disabled -Dpython=disabled \
        -Dopencl=disabled -Dvulkan=disabled -Dcuda=disabled -Dinline_fmt=true -Dcpu_kernels=baseline "$@"
fi
library=runtime/libwye.so.$(meson introspect --projectinfo "$build" | sed -E 's/.*"version": "([^"]*)".*/\1/')
plugins=(plugins/cpu/wye_cpu.so plugins/null/wye_null.so plugins/layers/wye_layer_validate.so plugins/layers/wye_layer_trace.so)
ninja -C "$build" "$library" "${plugins[@]}" $kit

mkdir -p "$files"
cp "$build/$library" "$files/libwye.so.0"
for file in "${plugins[@]}" $kit; do cp "$build/$file" "$files"; done
compile=(${CC:-gcc} -std=c11 -Os -fvisibility=hidden "-I$source/plugin-abi/include" "-I$source/runtime/include")
"${compile[@]}" -shared -fPIC "$here/vendor_plugin.c" -o "$files/wye_vendor.so"
"${compile[@]}" -shared -fPIC "$here/renamed_cpu.c" -o "$files/cpu_file.so" -ldl
(cd "$files" && "${compile[@]}" "$here/application.c" -o application ./libwye.so.0)

number() { sed -nE "s/^#define WYE_ABI_$1 ([0-9]+).*/\1/p" "$source/plugin-abi/include/wye/abi.h"; }
printf '{"draft": %d, "major": %d, "minor": %d, "version": "%s", "date": "%s", "arch": "%s"}\n' "$(number MINOR_DRAFT)" \
    "$(number MAJOR)" "$(number MINOR)" "${library##*.so.}" "$(git -C "$source" log -1 --format=%cs 2>/dev/null || date +%F)" "$(uname -m)" \
    >"$files/archive.json"
