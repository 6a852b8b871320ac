#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the host instructions of a repeated resident dispatch, or of a graph of it, from the entry of wye_dispatch or
# wye_graph_run to the first call of the driver, by library and by function. Exact even on a busy machine. Needs valgrind and a
# release build.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 4 ]; then
    echo "usage: tests/bench/instructions.sh BUILD [DEVICE [NATIVE_CALL [graph]]]   (opencl:0, clEnqueueNDRangeKernel)" >&2
    exit 2
fi
build=$(readlink -f "$1")
device=${2:-opencl:0}
native=${3:-clEnqueueNDRangeKernel}
entry=${4:+wye_graph_run}
work=$(mktemp -d "${TMPDIR:-/tmp}/wye-instructions.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Valgrind writes one file for each native call, with the counts since the last entry. The tenth dispatch does no
# first-time work.
export WYE_PLUGIN_PATH=${WYE_PLUGIN_PATH:-$build/plugins/${device%%:*}}
valgrind --tool=callgrind --callgrind-out-file="$work/out" --separate-threads=yes \
    --zero-before="${entry:-wye_dispatch}" --dump-before="$native" \
    "$build/tests/bench/repeat_dispatch" "$device" 10 ${4:+"$4"} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
[ -e "$work/out.10-01" ] || { echo "instructions.sh: '$native' was not called by 10 dispatches on $device" >&2; exit 1; }
callgrind_annotate --threshold=100 --show-percs=no --auto=no "$work/out.10-01" 2>/dev/null |
    awk '
        / [^ ]+:.* \[.*\]$/ && $1 ~ /^[0-9,]+$/ {
            count = $1; gsub(",", "", count)
            file = $NF; sub(/\]$/, "", file); sub(/.*[\/\[]/, "", file)
            # Functions outside wye_dispatch are not counted from their beginning.
            if (file ~ /^(repeat_dispatch|ld-linux)/ || /\(below main\)|libc-start/) next
            name = $0; sub(/^ *[0-9,]+ +[^ :]*:/, "", name); sub(/ \[[^]]*\]$/, "", name)
            libraries[file] += count; all += count
            lines[++n] = sprintf("%6d  %-22.22s %.90s", count, file, name)
        }
        END {
            for (file in libraries) printf "%6d  %s\n", libraries[file], file | "sort -rn"
            close("sort -rn")
            printf "%6d  in all\n\n", all
            for (i = 1; i <= n; ++i) print lines[i]
        }'
