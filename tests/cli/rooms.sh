#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/cli/rooms.sh WYE FOLDER_OF_LIBWYE MIX_PROGRAM PLUGIN_PATH
# Runs a program, with all drivers in its list of devices, in processes that lack something: with a sanitizer, without /proc or /sys
# as in some containers, with few descriptors, with a cache folder that is full or cannot be written. All these processes share one
# home, so each finds the verdicts of the others. The bytes must be right, no process may end by a signal, and each plugin must have
# been probed in a process of its own, or its refusal must have a reason.
set -euo pipefail
wye=$(realpath "$1") program=$3
# Without /proc the loader does not know the program's folder, so LD_LIBRARY_PATH names the folder of the library.
export LD_LIBRARY_PATH=$2 WYE_PLUGIN_PATH=$4 WYE_PROBE=auto WYE_CACHE_SIZE=0
unset WYE_CACHE_DIR WYE_DEVICE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder/home
unset XDG_CACHE_HOME
mkdir "$HOME"
bad=0
head -c 40000 /dev/urandom >"$folder/words"
"$wye" run "$program" -d cpu --in words="$folder/words" --out words="$folder/right" -q

# room NAME COMMAND...: runs the `wye` command several times in one environment. COMMAND runs the words that follow it.
room() {
    local name=$1 list status problem
    shift
    rm -f "$folder/found" "$folder/report"
    for list in opencl:0,vulkan:0,cpu:0 auto; do
        status=0
        "$@" "$wye" run "$program" -d "$list" --in words="$folder/words" --out words="$folder/found" -q 2>"$folder/errors" || status=$?
        if [ $status -ne 0 ] || ! cmp -s "$folder/right" "$folder/found"; then
            echo "rooms: $name: -d $list: status $status, $(tr '\n' ' ' <"$folder/errors")"
            bad=1
        fi
    done
    status=0
    "$@" "$wye" info --json >"$folder/report" 2>"$folder/errors" || status=$?
    # Built-in plugins have no path.
    problem=$(jq -r '
        [.plugins[] | select(.path)]
        | if length == 0 then "no plugin was found" else .[]
            | select((.probe_state | IN("child", "remembered")) or (.reason.fix // "" | startswith("Fix: ")) | not)
            | "\(.id) is \(.state), probe \(.probe_state), without a reason" end' "$folder/report" 2>&1) || status=9
    if [ $status -gt 4 ] || [ -n "$problem" ]; then
        echo "rooms: $name: info: status $status, $problem $(tr '\n' ' ' <"$folder/errors")"
        bad=1
    else
        echo "rooms: $name: $(jq -r '[.plugins[] | select(.path) | "\(.id) \(.state)"] | join(", ")' "$folder/report")"
    fi
}

plain() { "$@"; }
room "nothing missing" plain
sanitized() { LD_PRELOAD=$asan ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 "$@"; }
asan=$(gcc -print-file-name=libasan.so)
case $asan in
    /*) asan=$(readlink -f "$asan"); room "below the address sanitizer" sanitized ;;
    *) echo "rooms: gcc has no libasan. Fix: install libasan8"; bad=1 ;;
esac
few() { (ulimit -n 32 && exec "$@"); }
room "32 descriptors" few
# hidden FOLDER[:FOLDER] COMMAND...: runs a command with empty folders in place of these folders, as in a container.
hidden() {
    local folders=$1
    shift
    "${apart[@]}" sh -c 'IFS=:; for one in $1; do mount -t tmpfs -o size=4k none "$one" || exit 99; done; shift; exec "$@"' sh "$folders" "$@"
}
apart=()
for words in "unshare -m" "unshare -rm"; do
    if $words true 2>/dev/null; then read -ra apart <<<"$words"; break; fi
done
if [ ${#apart[@]} -ne 0 ] && hidden /sys true 2>/dev/null; then
    room "without /sys" hidden /sys
    room "without /proc and /sys" hidden /proc:/sys
    mkdir -p "$HOME/.cache/wye"
    full() { hidden "$HOME/.cache/wye" sh -c 'head -c 8192 /dev/zero >"$HOME/.cache/wye/rest" 2>/dev/null; exec "$@"' sh "$@"; }
    room "with a full cache folder" full
    sealed() { "${apart[@]}" sh -c 'mount --bind -o ro "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" || exit 99; exec "$@"' sh "$@"; }
    # PoCL cannot compile without a cache folder of its own, so other devices must be chosen.
    room "with a home that cannot be written" sealed
    export POCL_CACHE_DIR=$folder/pocl
    room "with a home that cannot be written, and another folder for PoCL" sealed
    unset POCL_CACHE_DIR
else
    echo "rooms: folders cannot be hidden here (unshare -m), so containers were not tried"
fi

# PoCL keeps variables that are live across a barrier on the stacks of its threads, whose size is the stack limit. A device whose stacks are
# too small for the variables must be passed over, and named. kept WORKGROUP VARIABLES STACK WORDS...: runs such a program on `cpu`, and
# with WORDS under a stack limit of STACK KiB.
kept() {
    local size=$1 count=$2 stack=$3 status=0
    shift 3
    cat >"$folder/kept.wye" <<P
wye 1; program kept; workgroup $size;
input x: u32[$size]; output r: u32[$size]; shared s: u32[64]; grid groups 1;
main {
    var own: u32[$count];
    let i = local_index;
    for k in 0u..${count}u { own[k] = x[i] + k; }
    s[i % 64u] = 1u;
    barrier;
    r[i] = own[(i * 7u) % ${count}u];
}
P
    head -c $((size * 4)) "$folder/words" >"$folder/x"
    rm -f "$folder/found"
    "$wye" run "$folder/kept.wye" -d cpu --in x="$folder/x" --out r="$folder/right" -q
    (ulimit -s "$stack" && exec "$wye" run "$folder/kept.wye" "$@" --in x="$folder/x" --out r="$folder/found" -q 2>"$folder/errors") || status=$?
    if [ $status -ne 0 ] || ! cmp -s "$folder/right" "$folder/found"; then
        echo "rooms: $size invocations keep $count words, stack of $stack KiB, $*: status $status, $(tr '\n' ' ' <"$folder/errors")"
        bad=1
    fi
}
for stack in 8192 512 256; do kept 256 1000 $stack -d opencl:0,cpu:0; done
kept 2048 4096 8192 -d opencl:0,cpu:0
kept 2048 4096 8192 -d vulkan:0,cpu:0
kept 2048 4096 8192 -d opencl:0 --policy prefer
exit $bad
