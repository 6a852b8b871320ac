#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program on the device, and compares each byte of its result with known bytes.
#
#   program.sh WYE FOLDER
#
# WYE is the command. FOLDER is the folder of the plugin and its manifest.
set -eu
wye=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The plugin's folder is searched before the usual ones. The run leaves no files.
export WYE_PLUGIN_PATH_ADD="$(realpath "$2")" WYE_CACHE_DIR="$work/cache"

printf '\000\000\200\077\000\000\000\100' >"$work/x" # 1, 2 as f32
printf '\000\000\000\077\000\000\000\000' >"$work/y" # 0.5, 0
printf '\000\000\040\100\000\000\200\100' >"$work/expected" # 2.5, 4: twice x, plus y
set -- --device acme:0 --param a=2.0 --in x="$work/x" --in y="$work/y" --out r="$work/r"
# <own>
set -- --variants "$@" # without --variants, the program's body would have to run
# </own>
"$wye" run "$here/program.wye" "$@"
cmp "$work/r" "$work/expected"
