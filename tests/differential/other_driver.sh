#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/differential/other_driver.sh swiftshader|rusticl WYE PLUGIN_FOLDER [COUNT [SEED]]
# Drivers that no other test uses: no byte may be wrong, and each refusal must say why. SwiftShader is a Vulkan driver without 64-bit types,
# without 8 and 16-bit storage and without subnormals. It runs COUNT random programs (default 300, with seeds from SEED on), the
# regressions, and the conformance kits with the example programs. rusticl of Mesa 22 is an OpenCL driver that runs some loops wrongly
# (quirk rusticl-loops). It must be refused, and a list of devices must go on to the next device.
set -euo pipefail
driver=$1 wye=$(realpath "$2") plugins=$3 count=${4:-300} seed=${5:-0}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $driver in
    swiftshader)
        plugin=vulkan library=/usr/lib/chromium/vk_swiftshader_icd.json
        export VK_DRIVER_FILES=$library VK_ICD_FILENAMES=$library ;;
    rusticl)
        plugin=opencl library=$(echo /usr/local/lib/wye-check/rusticl/usr/lib/*/libRusticlOpenCL.so.1)
        echo "$library" >"$folder/rusticl.icd"
        export OCL_ICD_VENDORS=$folder RUSTICL_ENABLE=swrast,llvmpipe ;;
    *) sed -n 3p "$0"; exit 2 ;;
esac
if [ ! -e "$library" ]; then
    echo "$driver: $library is missing. Fix: tools/setup, which brings it on Debian"
    exit 1
fi
export WYE_PLUGIN_PATH=$plugins WYE_CACHE_DIR=$folder/cache WYE_PROBE=auto
groups=file,load,plugin,device,memory,program,queue,timeline,command,launch,native,lifetime,loss,process,threads,hostile
groups+=,capabilities,limits,features,examples,reference,sweeps
bad=0
if [ "$driver" = rusticl ]; then
    "$wye" info --json >"$folder/report"
    reason=$(jq -r '.devices[] | select(.plugin == "opencl") | if .usable then "it is usable" else "\(.reason). \(.fix)" end' "$folder/report")
    echo "rusticl: $reason"
    case $reason in *"runs some loops wrongly. Fix: "*) ;; *) bad=1 ;; esac
    head -c 4000 /dev/urandom >"$folder/words"
    for list in cpu:0 opencl:0,cpu:0; do
        "$wye" run "$here/../../runtime/examples/programs/mix.wye" -d "$list" --in words="$folder/words" --out words="$folder/$list" -q
    done
    cmp "$folder/cpu:0" "$folder/opencl:0,cpu:0" || bad=1
    exit "$bad"
fi
run() { # run NAME OPTIONS...
    local log=$folder/$1.log
    shift
    "$wye" fuzz --devices "$plugin:0" --limit 0 "$@" >"$log" 2>&1 || true # a refusal counts as a difference
    grep -E "^$plugin:0: programs=" "$log" || { tail -5 "$log"; bad=1; }
    if grep -E '^DIFFERS' "$log" | grep -vE ': needs [a-z]|max_workgroups' || grep -qE ' (different|not_run)=[1-9]' "$log" ||
        grep -E 'UNSUPPORTED|UNREACHABLE' "$log"; then
        bad=1
    fi
}
run random --seed "$seed" --count "$count"
run regressions --replay "$here/regressions"
# Without random programs, which ran above, and without the group `leaks`: it is slow, and would find leaks of the driver.
"$wye" conform --quick --only "$groups" "$plugins/wye_$plugin.so" >"$folder/kits" 2>&1 || { cat "$folder/kits"; bad=1; }
tail -1 "$folder/kits"
if grep -E 'UNREACHABLE' "$folder/kits"; then bad=1; fi
exit "$bad"
