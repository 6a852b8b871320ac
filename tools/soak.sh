# SPDX-License-Identifier: Apache-2.0
# The soak test of tools/check. Sourced, never run. Runs randomised jobs with new seeds for a given time, one job on each
# core, and counts them. A job has a name, and gets a seed, a time and an empty folder.
#
# The log of a failed job, with its command, is kept as soak/failed-NAME-SEED.log in the plain build folder, with the job's
# files beside the log, for up to 40 failures.

soak_slice=45 # seconds of a job with a time limit

# soak_job NAME SEED SECONDS FOLDER: runs one job.
soak_job() {
    local name=$1 seed=$2 seconds=$3 folder=$4 device=${1##*-} run=()
    case $name in
        stress-plain-*) run=("$PWD/$plain/tests/stress/wye-stress") ;;
        stress-sanitized-*) run=("${sanitized_env[@]}" "$PWD/$sanitize/tests/stress/wye-stress") ;;
        stress-threads-*) run=("${thread_env[@]}" "$PWD/$thread/tests/stress/wye-stress") ;;
    esac
    case $name in
        stress-*)
            "${run[@]}" --device "$device" --seed "$seed" --seconds "$seconds" --threads $((2 + seed % 7)) \
                --contexts $((1 + seed % 3)) --variety $((8 << seed % 3)) ;;
        fuzz-*)
            # Keeps the inputs that reached new code for the next job, up to 64 MiB.
            local corpus=$soak_dir/corpus/$device options=()
            mkdir -p "$corpus"
            if [ "$(du -sm "$corpus" | cut -f1)" -gt 64 ]; then find "$corpus" -type f -delete; fi
            if [ -f "tests/fuzz/$device.dict" ]; then options=(-dict="tests/fuzz/$device.dict"); fi
            "$PWD/$sanitize/tests/fuzz/fuzz_$device" -seed="$seed" -max_total_time="$seconds" -print_final_stats=1 -verbosity=1 \
                -timeout=20 -rss_limit_mb=2048 -max_len=60000 -artifact_prefix="$folder/" "${options[@]}" \
                "$corpus" "tests/fuzz/corpus/$device" ;;
        random-*) "$PWD/$plain/tests/differential/wye-fuzz" --seed "$seed" --count "$(soak_count "$device")" --devices "$device" --keep "$folder/found" --limit 60 ;;
        traps-*) "$PWD/$plain/tests/differential/wye-fuzz" --seed "$seed" --count "$(soak_count "$device")" --devices "$device" --keep "$folder/found" --limit 60 --traps ;;
        tool-arguments) soak_script arguments "$seed" 300 ;;
        tool-limits) soak_script limits "$seed" 20 cpu vulkan ;;
        tool-kill) soak_script kill "$seed" 24 cpu opencl vulkan ;;
        # Makes at most two calls fail in each job of the fault test. The seed chooses the first of these calls.
        faults) "$PWD/$plain/tests/faults/faults" --most 2 --from $((1 + seed % 300)) --jobs 1 ;;
        tool-flips) soak_script flips "$seed" 12 opencl vulkan ;;
    esac
}
soak_count() { case $1 in cpu) echo 600 ;; opencl) echo 25 ;; *) echo 120 ;; esac; }
soak_script() {
    local script=$1
    shift
    "tests/stress/$script.sh" "$plain/tools/wye" runtime/examples/programs "$@"
}

# soak_counted LOG: the number of cases that a finished job ran, from its output.
soak_counted() {
    sed -nE 's/^stress: ([0-9]+) calls.*/\1 calls/p; s/^stat::number_of_executed_units: *([0-9]+)/\1 inputs/p
             s/^.* programs=([0-9]+) .*/\1 programs/p; s/^([0-9]+) passed, 0 failed$/\1 checks/p' "$1" | head -n 1
}

# Runs jobs until the time is over. Each job takes the next name of the list.
soak_worker() {
    local worker=$1 number name seed left status log folder jobs=("${soak_jobs[@]}")
    while left=$((soak_end - SECONDS)) && [ "$left" -gt 5 ]; do
        number=$(flock "$work/next" sh -c 'n=$(cat "$0"); echo $((n + 1)) >"$0"; echo "$n"' "$work/next")
        name=${jobs[number % ${#jobs[@]}]}
        seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
        seed=$((seed % 900000000 + 1))
        folder=$work/soak-$worker
        rm -rf "$folder"
        mkdir -p "$folder"
        private_caches "soak-$worker/caches"
        WYE_PLUGIN_PATH=$(plugin_folders "$(case $name in *-sanitized-*) echo $sanitize ;; *-threads-*) echo $thread ;; *) echo $plain ;; esac)")
        export WYE_PLUGIN_PATH
        log=$soak_dir/running-$worker.log
        status=0
        # A job that hangs is a failure.
        ( set -e; soak_job "$name" "$seed" $((left < soak_slice ? left : soak_slice)) "$folder" ) >"$log" 2>&1 </dev/null &
        soak_wait $! 900 || status=$?
        if [ "$status" -ne 0 ] && [ -s "$soak_dir/failures" ] && [ "$(wc -l <"$soak_dir/failures")" -ge 40 ]; then return; fi
        if [ "$status" -eq 0 ]; then
            printf '%s\t%s\n' "$name" "$(soak_counted "$log")" >>"$soak_dir/done"
            rm -f "$log"
        else
            mv "$log" "$soak_dir/failed-$name-$seed.log"
            rm -rf "$folder/caches"
            cp -r "$folder" "$soak_dir/failed-$name-$seed"
            printf '%s, seed %s, status %s: %s\n' "$name" "$seed" "$status" "$soak_dir/failed-$name-$seed.log" >>"$soak_dir/failures"
        fi
    done
}

# soak_wait PROCESS SECONDS: waits for the process and returns its status; on time-out kills it with its descendants, and
# returns 124.
soak_wait() {
    local until=$((SECONDS + $2))
    while kill -0 "$1" 2>/dev/null; do
        if [ $SECONDS -ge $until ]; then
            end_tree "$1"
            return 124
        fi
        sleep 0.2
    done
    wait "$1"
}

soak_build() {
    local target fuzzers=()
    for target in tests/fuzz/*.cpp; do
        target=$(basename "$target" .cpp)
        if grep -q "'$target'" tests/fuzz/meson.build; then fuzzers+=("tests/fuzz/fuzz_$target"); fi
    done
    ninja -C $sanitize "${fuzzers[@]}" tests/stress/wye-stress \
        $(meson introspect --targets $sanitize | jq -r --arg root "$PWD/$sanitize/" '.[] | select(.name == "wye_opencl" or .name == "wye_vulkan") | .filename[0] | ltrimstr($root)')
}

soak_run() {
    local worker workers=() device
    soak_jobs=()
    for device in cpu opencl vulkan; do soak_jobs+=("stress-plain-$device" "random-$device" "stress-sanitized-$device" "fuzz-text" "stress-threads-$device" "fuzz-wire" "traps-$device"); done
    soak_jobs+=(tool-arguments tool-limits tool-kill tool-flips fuzz-manifest fuzz-selector)
    if [ -x "$plain/tests/faults/faults" ]; then soak_jobs+=(faults); fi
    mapfile -t soak_jobs < <(printf '%s\n' "${soak_jobs[@]}" | shuf)
    printf '%s\n' "jobs: ${soak_jobs[*]}"
    prepare_sanitized
    prepare_thread
    echo 0 >"$work/next"
    soak_end=$((SECONDS + soak_minutes * 60))
    trap 'for worker in "${workers[@]}"; do end_tree "$worker"; done' EXIT
    for ((worker = 0; worker < $(nproc); ++worker)); do
        soak_worker "$worker" &
        workers+=($!)
    done
    wait
}

soak() {
    soak_dir=$PWD/$plain/soak
    mkdir -p "$soak_dir"
    rm -rf "$soak_dir"/{done,failures,running-*,failed-*}
    must "configure $sanitize" configure_sanitize
    must "build what is attacked under sanitizers" soak_build
    must "build $thread (clang, thread sanitizer, what has threads)" build_thread
    step "attacks, for $soak_minutes minutes" soak_run
    if [ "$step_status" -ne 0 ]; then add "the soak itself" 0 1; fi
    local name line
    if [ -s "$soak_dir/done" ]; then
        while IFS=$'\t' read -r name line; do
            add "$name" "$(cut -d' ' -f1 <<<"$line")" 0
            notes+=("$name: $line")
        done < <(awk -F'\t' '{ split($2, of, " "); jobs[$1]++; sum[$1] += of[1]; what[$1] = of[2] }
            END { for (name in jobs) printf "%s\t%d jobs, %d %s\n", name, jobs[name], sum[name], what[name] }' "$soak_dir/done" | LC_ALL=C sort)
    else
        add "soak: no job ended well" 0 1
    fi
    if [ -s "$soak_dir/failures" ]; then
        while IFS= read -r line; do add "$line" 0 1; done <"$soak_dir/failures"
    fi
}
