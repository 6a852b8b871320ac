# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder that run the `wye` command. Sets:
#   wye        the command
#   programs   the folder of the example programs
#   seed       the seed of the random numbers, which is printed so that a failure can be reproduced
#   work       an empty folder, which is also the current folder, and is removed at the end
set -euo pipefail
wye=$(realpath "$1")
programs=$(realpath "$2")
seed=$3
shift 3
[ "$seed" != random ] || seed=$((RANDOM * 32768 + RANDOM))
# Seeds RANDOM, whose values have 15 bits.
RANDOM=$seed
work=$(mktemp -d "${TMPDIR:-/tmp}/wye-attack.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export POCL_CACHE_DIR=$work/pocl MESA_SHADER_CACHE_DIR=$work/mesa XDG_CACHE_HOME=$work/xdg WYE_CACHE_DIR=$work/cache
unset WYE_DEVICE WYE_CACHE_SIZE
mkdir pocl mesa xdg
echo "seed $seed"

passed=0
failed=0
pass() { passed=$((passed + 1)); }
fail() {
    printf 'FAILED: %s\n' "$1"
    failed=$((failed + 1))
}
# finish: prints the last line of a test and sets its exit status. A test that tried nothing fails.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# below N: sets `drawn` to a random number from 0 to N - 1.
below() { drawn=$(((RANDOM * 32768 + RANDOM) % $1)); }
# pick WORD...: sets `picked` to one of the words, at random.
pick() {
    below $#
    shift "$drawn"
    picked=$1
}

# random_bytes FILE COUNT: writes COUNT bytes that depend only on the seed.
random_bytes() {
    local i line=
    for ((i = 0; i < $2; i += 2)); do
        below 65536
        printf -v line '%s\\x%02x\\x%02x' "$line" $((drawn & 255)) $((drawn >> 8))
    done
    printf '%b' "$line" | head -c "$2" >"$1"
}

# judge STATUS ERRORS WHAT: checks that the command exited with one of its own statuses and, if it failed, printed a remedy.
judge() {
    case $1 in
        0) pass ;;
        1 | 2 | 3 | 5)
            if grep -q -e 'internal error' -e 'terminate called' "$2"; then
                fail "$3: status $1, $(head -c 300 "$2")"
            elif grep -q 'Fix: ' "$2"; then
                pass
            else
                fail "$3: status $1 without a remedy: $(head -c 300 "$2")"
            fi ;;
        124) fail "$3: did not end" ;;
        *) fail "$3: status $1: $(head -c 1500 "$2")" ;;
    esac
}

# Writes a program with operations that are lowered as the device's self-test says: fma, division and square root, in f32 and f64.
write_program() {
    cat >attack.wye <<'P'
wye 1; program attack; workgroup 64;
param a: f32;
input x: f32[]; output r: f32[len(x)]; output d: f64[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) {
        let v = fma(a, x[i], 0.1) / (x[i] * x[i] + 0.3);
        r[i] = sqrt(abs(v)) + exp(v * 0.01) - 1.0 / sqrt(abs(x[i]) + 1.0);
        d[i] = fma(f64(v), f64(x[i]), 0.25f64) / 3.0f64;
    }
}
P
}
