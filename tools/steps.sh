# SPDX-License-Identifier: Apache-2.0
# Numbered steps for the scripts of this folder; sourced, never run.
#
# step NAME COMMAND...   runs COMMAND with its output in a log file, prints NAME and how long it took, and on failure the
#                        end of the log. It never ends the script: the caller looks at step_status.
# Before the first step the caller sets step_log_dir (an existing folder).

step_number=0
step_status=0

say() { printf '%s\n' "$*"; }

# Prints the newest line of a log in place, once a second, until it is killed. Only for terminals.
step_progress() {
    local log=$1 head=$2 line width
    width=$(tput cols 2>/dev/null || echo 80)
    while sleep 1; do
        line=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -v '^$' | tail -n 1 | tr -cd '[:print:]') || true
        printf '\r\033[K%.*s' "$((width - 1))" "$head $line"
    done
}

step() {
    local name=$1 log head start end watcher=
    shift
    step_number=$((step_number + 1))
    log=$step_log_dir/$(printf '%02d' "$step_number")-$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$name").log
    head=$(printf '[%2d] %s' "$step_number" "$name")
    printf '%s ...' "$head"
    if [ -t 1 ]; then
        step_progress "$log" "$head" &
        watcher=$!
    fi
    start=${EPOCHREALTIME/[.,]/}
    # Not in a condition: that would switch errexit off inside the command.
    set +e
    ( set -e; "$@" ) >"$log" 2>&1 </dev/null
    step_status=$?
    set -e
    end=${EPOCHREALTIME/[.,]/}
    if [ -n "$watcher" ]; then
        kill "$watcher" 2>/dev/null || true
        wait "$watcher" 2>/dev/null || true
        printf '\r\033[K%s ...' "$head"
    fi
    local tenths=$(((end - start + 50000) / 100000))
    if [ "$step_status" -eq 0 ]; then
        printf ' ok (%d.%d s)\n' "$((tenths / 10))" "$((tenths % 10))"
    else
        printf ' FAILED with status %d (%d.%d s)\n' "$step_status" "$((tenths / 10))" "$((tenths % 10))"
        tail -n 40 "$log" | sed 's/^/     | /'
        say "     whole log: $log"
    fi
    step_log=$log
}

# plugin_folders BUILD: the folders of a build tree that hold plugins, as WYE_PLUGIN_PATH wants them. The cpu plugin is
# built in anyway; the null plugin is a template without devices.
plugin_folders() {
    find "$1/plugins" -name '*.wye.json' ! -path '*/null/*' ! -path '*/cpu/*' -printf "$PWD/%h\n" | LC_ALL=C sort -u | paste -sd:
}
