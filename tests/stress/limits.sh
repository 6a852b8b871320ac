#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: limits.sh WYE PROGRAMS SEED STEPS DEVICE...
# Gives the command little memory, few descriptors or a full disk. It must succeed or report what was missing. STEPS is the
# number of memory limits. Does not run under sanitizers, which reserve more memory than any limit.
. "$(dirname "${BASH_SOURCE[0]}")/tool.sh"
steps=$1
shift
write_program
random_bytes x.bin 4096
arguments=(run attack.wye --param a=1.5 --in x=x.bin --out r=r.bin --out d=d.bin -q)
"$wye" "${arguments[@]}" -d cpu
mv r.bin r.want
mv d.bin d.want

# limited WHAT DEVICE ULIMIT-OPTION VALUE [TRAP]: runs the command once with that limit. Output files of an earlier run are there.
limited() {
    local what=$1 device=$2 status=0 count
    echo earlier >r.bin
    echo earlier >d.bin
    # Errors go through a pipe, since the limit on file sizes would apply to a file for them, too.
    (
        trap '' "${5-PIPE}"
        ulimit "$3" "$4"
        exec timeout 600 "$wye" "${arguments[@]}" -d "$device"
    ) 2>&1 >out.txt </dev/null | cat >err.txt || status=$?
    # The dynamic loader, or the initialisation of a library, may fail first.
    if grep -q -e 'error while loading shared libraries' -e 'failed to map segment' -e 'cannot allocate memory in static TLS' err.txt; then
        started=0
        rm -f r.bin.* d.bin.*
        return
    fi
    started=1
    judge $status err.txt "$what on $device"
    if [ $status -eq 0 ]; then
        if cmp -s r.bin r.want && cmp -s d.bin d.want; then pass; else fail "$what on $device: wrong bytes, status 0"; fi
    elif { cmp -s r.bin r.want || [ "$(cat r.bin)" = earlier ]; } && { cmp -s d.bin d.want || [ "$(cat d.bin)" = earlier ]; }; then
        pass
    else
        fail "$what on $device: an output is half-written"
    fi
    count=$(find . -maxdepth 1 -name '[rd].bin.*' | wc -l)
    if [ "$count" -eq 0 ]; then pass; else fail "$what on $device: temporary files are left"; fi
    rm -f r.bin.* d.bin.*
}

for device in "$@"; do
    "$wye" "${arguments[@]}" -d "$device"
    cmp r.bin r.want
    # Limits on the number of descriptors. The command starts with 3 in use.
    for count in 3 4 5 6 7 8 9 10 12 14 16 20 24 32; do limited "$count descriptors" "$device" -n "$count"; done
    # Limits on the size of files, in blocks of 1 KiB, so that outputs (4 and 8 KiB) and the cache meet a full disk.
    for size in 0 1 3 4 5 7 8; do
        rm -rf cache
        limited "files up to $size KiB" "$device" -f "$size" XFSZ
    done
    rm -rf cache
    "$wye" "${arguments[@]}" -d "$device"
    if cmp -s r.bin r.want; then pass; else fail "after a full disk on $device: wrong bytes"; fi
done

# Limits on the address space, beginning with the smallest with which the command starts. Only the CPU is tested, since the compilers of
# drivers end the process if there is no memory.
for ((step = 1, tried = 0; tried < steps && step < 400; ++step)); do
    limited "$((step * 8)) MiB of addresses" cpu -v $((step * 8192))
    if [ "$started" -eq 1 ]; then
        tried=$((tried + 1))
        if [ $((tried % 4)) -eq 0 ]; then
            below 8192
            limited "$((step * 8192 + drawn)) KiB of addresses" cpu -v $((step * 8192 + drawn))
        fi
    fi
done

for target in out d r; do
    status=0
    case $target in
        out) "$wye" lower attack.wye --to opencl-c >/dev/full 2>err.txt || status=$? ;;
        d) "$wye" run attack.wye -d cpu --param a=1.5 --in x=x.bin --out r=r.bin --out d=/dev/full -q 2>err.txt || status=$? ;;
        r) "$wye" lower attack.wye --to wire -o /dev/full 2>err.txt || status=$? ;;
    esac
    if [ $status -eq 0 ]; then fail "writing to a full device ($target): status 0"; else judge $status err.txt "full device ($target)"; fi
done
finish
