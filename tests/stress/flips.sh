#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: flips.sh WYE PROGRAMS SEED FLIPS DEVICE...
# Changes one byte of a file in Wye's cache, FLIPS times for each file. Results must stay the same.
. "$(dirname "${BASH_SOURCE[0]}")/tool.sh"
flips=$1
shift
write_program
random_bytes x.bin 4096
arguments=(run attack.wye --param a=1.5 --in x=x.bin --out r=r.bin --out d=d.bin -q)
WYE_CACHE_DIR='' "$wye" "${arguments[@]}" -d cpu
mv r.bin r.want
mv d.bin d.want

check() { # check WHAT
    local status=0
    rm -f r.bin d.bin
    timeout 600 "$wye" "${arguments[@]}" -d "$device" >out.txt 2>err.txt || status=$?
    if [ $status -eq 0 ] && cmp -s r.bin r.want && cmp -s d.bin d.want; then
        pass
    else
        fail "$1: status $status, $(cmp r.bin r.want 2>&1 | head -c 200) $(head -c 300 err.txt)"
    fi
}

for device in "$@"; do
    rm -rf cache kept
    check "$device without a cache"
    check "$device with a cache"
    # The CPU's programs are not cached, since compiling them is faster than reading a file.
    if [ ! -d cache ]; then
        [ "$device" = cpu ] || fail "$device: nothing is kept, so this test tries nothing"
        continue
    fi
    cp -a cache kept
    while IFS= read -r file; do
        size=$(stat -c %s "kept/$file")
        [ "$size" -gt 0 ] || continue
        # Half of the changes of a text file swap 0 and 1, so that the file remains well-formed.
        mapfile -t answers < <(head -c 65536 "kept/$file" | grep -aboE '\b[01]$' | cut -d: -f1 || true)
        for ((flip = 0; flip < flips; ++flip)); do
            rm -rf cache
            cp -a kept cache
            below "$size"
            at=$drawn
            below 8
            bit=$drawn
            if [ ${#answers[@]} -gt 0 ] && [ $((flip % 2)) -eq 0 ]; then
                pick "${answers[@]}"
                at=$picked
                bit=0
            fi
            byte=$(od -An -tu1 -j "$at" -N 1 "kept/$file" | tr -d ' ')
            changed=$((byte ^ (1 << bit)))
            printf "\\x$(printf %02x $changed)" | dd of="cache/$file" bs=1 seek="$at" conv=notrunc status=none
            check "$device: byte $at of $file changed from $byte to $changed"
        done
    done < <(cd kept && find . -type f | LC_ALL=C sort)
    # The command must be able to clear its cache.
    "$wye" cache clear >/dev/null
    left=$(find cache -type f ! -name counts ! -name '*.lock' ! -name CACHEDIR.TAG 2>/dev/null || true)
    if [ -z "$left" ]; then pass; else fail "$device: wye cache clear left $left"; fi
done
finish
