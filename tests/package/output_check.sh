#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: output_check.sh SOURCE. Tries to package a build that cannot be packaged. Files in the output folder must remain.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for need in dh jq; do command -v $need >/dev/null || { echo "$need is missing. Fix: tools/setup"; exit 1; }; done
mkdir -p "$work/build" "$work/out/logs"
touch "$work"/{build/build.ninja,out/other_1.deb,out/libwye0_0.deb,out/logs/mine}
status=0
"$1/tools/package" --output "$work/out" "$work/build" >"$work/said" 2>&1 || status=$?
[ "$status" -eq 1 ] || { echo "the status is $status, not 1"; cat "$work/said"; exit 1; }
for file in other_1.deb libwye0_0.deb logs/mine; do
    [ -e "$work/out/$file" ] || { echo "$file is gone"; exit 1; }
done
