#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/differential/oclgrind.sh WYE_FUZZ WYE_CONFORMANCE ABI_KIT PLUGIN_FOLDER [COUNT [SEED]]
# Runs the example programs, COUNT random programs (default 12, with seeds from SEED on) and the regressions on Oclgrind, an
# OpenCL device that checks every access. The bytes must be equal, without races or accesses out of range.
set -euo pipefail
fuzz=$1 conformance=$2 kit=$3 plugins=$4 count=${5:-12} seed=${6:-0}
here=$(cd "$(dirname "$0")" && pwd)
driver=/usr/lib/oclgrind/liboclgrind-rt-icd.so
if [ ! -e "$driver" ]; then
    echo "oclgrind: $driver is missing. Fix: tools/setup"
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "$driver" >"$folder/oclgrind.icd"
# Clang's optimiser turns selects into intrinsics that Oclgrind's interpreter lacks, so programs are not optimised.
export OCL_ICD_VENDORS=$folder OCLGRIND_DATA_RACES=1 OCLGRIND_BUILD_OPTIONS=-cl-opt-disable OCLGRIND_NUM_THREADS=1
export WYE_PLUGIN_PATH=$plugins WYE_CACHE_DIR=$folder/cache XDG_CACHE_HOME=$folder
bad=0
# run NAME COMMAND...: runs a command. Oclgrind always exits with 0, so its output is searched for faults.
run() {
    local name=$1 log=$folder/$1.log
    shift
    "$@" >"$log" 2>&1 || bad=1
    grep -E '^opencl:0: |^[0-9]+ passed|DIFFERS|FAILED|USELESS' "$log" || bad=1
    # A read out of range loads the first element and drops the value, so that a race with a write of that element is no fault. A race
    # between a read and a write therefore counts only from byte 32 of an array on, or of a range that comes after 256 guard bytes. The last
    # 12 digits of an address are the offset in the array.
    if ! awk '
        /Write-write data race|Invalid (read|write)|OCLGRIND FATAL/ { print; found++; next }
        /Read-write data race/ { place = substr($NF, length($NF) - 11); if (place !~ /^0*x?0*(1?[01])?[0-9a-f]$/) { print; found++ } }
        END { exit found > 0 }' "$log" >"$log.found"; then
        echo "oclgrind: $name: $(wc -l <"$log.found") reports, the first: $(head -1 "$log.found")"
        echo "Fix: run the command by hand as this script does, and read its reports"
        bad=1
    fi
}
run examples "$conformance" examples --device opencl:0 --scale 0
run random "$fuzz" --devices opencl:0 --limit 0 --seed "$seed" --count "$count"
run regressions "$fuzz" --devices opencl:0 --limit 0 --replay "$here/regressions"
# On this device, unlike PoCL, timed submits have a native queue of their own.
"$kit" "$plugins/wye_opencl.so" -tc='*time of a submit*,timed submits*' >"$folder/timed.log" 2>&1 || bad=1
grep -E '[1-9][0-9]* passed \| 0 failed' "$folder/timed.log" | head -1 || { cat "$folder/timed.log"; bad=1; }
exit "$bad"
