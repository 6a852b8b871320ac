#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/differential/swiftshader.sh WYE_FUZZ PLUGIN_FOLDER [COUNT [SEED]]
# Runs COUNT random programs (default 300, with seeds from SEED on) and the regressions on SwiftShader, a Vulkan driver without
# 64-bit numbers, 8 and 16-bit storage and subnormals. No byte may be wrong, and each refusal names what the device lacks.
set -euo pipefail
fuzz=$1 plugins=$2 count=${3:-300} seed=${4:-0}
here=$(cd "$(dirname "$0")" && pwd)
driver=/usr/lib/chromium/vk_swiftshader_icd.json
if [ ! -e "$driver" ]; then
    echo "swiftshader: $driver is missing. Fix: tools/setup, which installs chromium on Debian"
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export VK_DRIVER_FILES=$driver VK_ICD_FILENAMES=$driver WYE_PLUGIN_PATH=$plugins WYE_CACHE_DIR=$folder/cache
bad=0
run() { # run NAME OPTIONS...
    local log=$folder/$1.log
    shift
    "$fuzz" --devices vulkan:0 --limit 0 "$@" >"$log" 2>&1 || true # a refusal counts as a difference
    grep -E '^vulkan:0: programs=' "$log" || { tail -5 "$log"; bad=1; }
    if grep -E '^DIFFERS' "$log" | grep -vE ': needs [a-z]|max_workgroups' || grep -qE ' (different|not_run)=[1-9]' "$log" ||
        grep -E 'UNSUPPORTED|UNREACHABLE' "$log"; then
        bad=1
    fi
}
run random --seed "$seed" --count "$count"
run regressions --replay "$here/regressions"
exit "$bad"
