# SPDX-License-Identifier: Apache-2.0
# Runs numbered steps for the scripts of this folder. Sourced, never run.
#
# step NAME COMMAND...   runs COMMAND with its output in a log file, prints NAME and the time it took, and on failure the
#                        end of the log. It never ends the script: the caller checks step_status.
# lane NAME COMMAND NAME COMMAND...   starts the commands (one word each) in the background at a lower priority, one after
#                        the other, as separate steps; a failure ends the lane. One lane at a time.
# lane_step              waits for the next step of the lane, and reports it as step does.
# lane_stop              ends the lane and all its processes.
# end_tree PROCESS       kills a process and its descendants.
# Before the first step the caller sets step_log_dir (an existing folder).

# Options of `meson setup`: several files of a library, and of a test, are compiled together. On few cores it is fastest to
# compile most libraries in one piece; on more cores, the libraries are split into more pieces. The layout test `alone`
# checks that no file lacks an include.
unity_size=$((200 / $(nproc) > 12 ? 200 / $(nproc) : 12))
build_together="-Dtogether=true -Dunity_size=$unity_size"
build_tests_together="-Dunity=on -Dunity_size=$unity_size"

# The compiler cache serves every clone of the tree, since paths in its keys are relative to the clone.
CCACHE_BASEDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CCACHE_BASEDIR CCACHE_NOHASHDIR=1

step_number=0
step_status=0

say() { printf '%s\n' "$*"; }

# Prints the newest line of a log in place, once a second, until this process is killed. Only for terminals.
step_progress() {
    local log=$1 head=$2 line width
    width=$(tput cols 2>/dev/null || echo 80)
    while sleep 1; do
        line=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -v '^$' | tail -n 1 | tr -cd '[:print:]') || true
        printf '\r\033[K%.*s' "$((width - 1))" "$head $line"
    done
}

step_slug() { tr -cs 'a-zA-Z0-9\n' '-' <<<"$1"; }

# Sets step_number, step_log and step_head for the next step, NAME.
step_next() {
    step_number=$((step_number + 1))
    step_log=$step_log_dir/$(printf '%02d' "$step_number")-$(step_slug "$1").log
    step_head=$(printf '[%2d] %s' "$step_number" "$1")
}

step_watcher=
step_announce() { # step_announce LOG HEAD
    printf '%s ...' "$2"
    if [ -t 1 ]; then
        step_progress "$1" "$2" &
        step_watcher=$!
    fi
}

# step_print LOG HEAD MICROSECONDS WORDS: prints the result of the step, from step_status.
step_print() {
    if [ -n "$step_watcher" ]; then
        kill "$step_watcher" 2>/dev/null || true
        wait "$step_watcher" 2>/dev/null || true
        printf '\r\033[K%s ...' "$2"
        step_watcher=
    fi
    local tenths=$((($3 + 50000) / 100000))
    local took="$((tenths / 10)).$((tenths % 10)) s$4"
    if [ "$step_status" -eq 0 ]; then
        printf ' ok (%s)\n' "$took"
    else
        printf ' FAILED with status %d (%s)\n' "$step_status" "$took"
        tail -n 40 "$1" | sed 's/^/     | /'
        say "     whole log: $1"
    fi
    step_log=$1
}

step_now() { echo "${EPOCHREALTIME/[.,]/}"; }

step() {
    local name=$1 log head start
    shift
    step_next "$name"
    log=$step_log head=$step_head
    step_announce "$log" "$head"
    start=$(step_now)
    # The command does not run as a condition, which would disable errexit inside the command.
    set +e
    ( set -e; "$@" ) >"$log" 2>&1 </dev/null
    step_status=$?
    set -e
    step_print "$log" "$head" $(($(step_now) - start)) ''
}

lane_process=
lane_logs=()
lane_names=()

lane() {
    local commands=() log
    lane_logs=() lane_names=()
    while [ $# -gt 0 ]; do
        lane_names+=("$1")
        log=$step_log_dir/$(step_slug "$1").log
        rm -f "$log.ended"
        lane_logs+=("$log")
        commands+=("$2")
        shift 2
    done
    (
        trap - EXIT
        renice -n 10 -p "$BASHPID" >/dev/null
        for i in "${!commands[@]}"; do
            start=$(step_now)
            set +e
            ( set -e; "${commands[i]}" ) >"${lane_logs[i]}" 2>&1 </dev/null
            status=$?
            set -e
            echo "$status $(($(step_now) - start))" >"${lane_logs[i]}.new"
            mv "${lane_logs[i]}.new" "${lane_logs[i]}.ended"
            [ "$status" -eq 0 ] || break
        done
    ) &
    lane_process=$!
}

lane_step() {
    local log=${lane_logs[0]} head microseconds=0 running=1
    step_next "${lane_names[0]}"
    head=$step_head
    lane_logs=("${lane_logs[@]:1}") lane_names=("${lane_names[@]:1}")
    step_announce "$log" "$head"
    step_status=125
    # When the lane has ended, looks for the file once more: a file that is still missing will never appear.
    while [ ! -e "$log.ended" ] && [ "$running" -eq 1 ]; do
        kill -0 "$lane_process" 2>/dev/null || running=0
        sleep 0.2
    done
    if [ -e "$log.ended" ]; then
        read -r step_status microseconds <"$log.ended"
        rm "$log.ended"
    else
        echo "the background lane ended before this step" >>"$log"
    fi
    mv "$log" "$step_log"
    log=$step_log
    step_print "$log" "$head" "$microseconds" ' beside the steps above'
}

lane_stop() {
    [ -z "$lane_process" ] || end_tree "$lane_process"
    lane_process=
}

# end_tree PROCESS: kills a process after its descendants.
end_tree() {
    local child
    for child in $(ps -o pid= --ppid "$1"); do end_tree "$child"; done
    kill -KILL "$1" 2>/dev/null || true
}

# plugin_folders BUILD: prints the folders of a build tree that have plugins, for WYE_PLUGIN_PATH. Leaves out the cpu plugin,
# which is built in, the null plugin, which is a template without devices, and the mock plugin, which computes nothing.
plugin_folders() {
    find "$1/plugins" -name '*.wye.json' ! -path '*/null/*' ! -path '*/cpu/*' ! -path '*/mock/*' -printf "$PWD/%h\n" | LC_ALL=C sort -u | paste -sd:
}

# Prints the first Python that can make a wheel and install it.
wheel_python() {
    local one
    for one in python3 /usr/bin/python3; do
        "$one" -c 'import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, ("pip", "setuptools", "venv", "wheel"))))' 2>/dev/null && command -v "$one" && return
    done
    return 1
}
