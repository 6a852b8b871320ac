#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: kill.sh WYE PROGRAMS SEED KILLS DEVICE...
# Kills the command at random moments, with a cache and without. Each output file must be complete or unchanged, and the next run must
# succeed with the right results.
. "$(dirname "${BASH_SOURCE[0]}")/tool.sh"
kills=$1
shift
write_program
random_bytes piece 8192
for ((i = 0; i < 128; ++i)); do cat piece; done >x.bin
arguments=(run attack.wye --param a=1.5 --in x=x.bin --out r=r.bin --out d=d.bin -q)
"$wye" "${arguments[@]}" -d cpu
mv r.bin r.want
mv d.bin d.want

whole() { # whole FILE WHEN
    if [ ! -e "$1.bin" ] || cmp -s "$1.bin" "$1.want"; then pass; else fail "$2: $1 is half-written"; fi
}

for device in "$@"; do
    for ((kill = 0; kill < kills; ++kill)); do
        # Every third kill meets a run that compiles, and that writes the cache.
        [ $((kill % 3)) -ne 0 ] || rm -rf cache
        rm -f r.bin d.bin
        pick KILL KILL TERM INT HUP
        signal=$picked
        # A run with a cache takes some 150 ms. One that compiles takes longer.
        below $((kill % 3 == 0 ? 500 : 200))
        # Under set -m the command has the default handling of SIGINT, as if started from a terminal.
        set -m
        "$wye" "${arguments[@]}" -d "$device" 2>err.txt &
        set +m
        # Until the child has executed the command, it is a shell, and a signal would run this script's EXIT trap in it.
        while [ "/proc/$!/exe" -ef /proc/$$/exe ]; do :; done
        sleep "0.$(printf '%03d' "$drawn")"
        kill -s $signal $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        whole r "$device, $signal after $drawn ms"
        whole d "$device, $signal after $drawn ms"
        if [ $signal != KILL ] && [ -n "$(find . -maxdepth 1 -name '[rd].bin.*' -print -quit)" ]; then
            fail "$device, $signal after $drawn ms: temporary files are left"
        fi
        rm -f r.bin.* d.bin.*
        if [ $((kill % 3)) -eq 2 ] || [ $((kill + 1)) -eq "$kills" ]; then
            status=0
            timeout 600 "$wye" "${arguments[@]}" -d "$device" 2>err.txt || status=$?
            if [ $status -eq 0 ] && cmp -s r.bin r.want && cmp -s d.bin d.want; then
                pass
            else
                fail "$device: the run after kills: status $status, $(head -c 300 err.txt)"
            fi
        fi
    done
done
finish
