#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: arguments.sh WYE PROGRAMS SEED RUNS
# Runs the command with random arguments. It must exit with one of its own statuses and, unless that is 0, print a remedy.
. "$(dirname "${BASH_SOURCE[0]}")/tool.sh"
runs=$1
# Only the CPU is tested here, since other tests cover drivers.
export WYE_PLUGIN_PATH=$work/none
cp "$programs"/{saxpy,mix,histogram,bitonic,matmul}.wye .
mkdir folder
random_bytes x.bin 64
random_bytes odd.bin 7
: >empty.bin
head -c 40 saxpy.wye >cut.wye
"$wye" lower saxpy.wye --to wire -o saxpy.wire
long=$(printf 'x%.0s' {1..5000})

numbers=(0 1 2 7 64 255 256 65535 65536 4294967295 4294967296 9223372036854775807 18446744073709551615
    18446744073709551616 18446744073710 -1 -0 +3 1e9 0x10 1.5 nan inf -inf '' ' ' 1,2 1,2,3 1,2,3,4 , 1, 64k abc 1_000
    '99999999999999999999999999' $'\n' $'\xff\xfe' "$long")
files=(saxpy.wye mix.wye histogram.wye bitonic.wye matmul.wye saxpy.wire cut.wye empty.bin x.bin odd.bin folder absent.wye
    /dev/null folder/absent '' . "$long" $'\xff\xfe' -)
# Nothing random may be written outside of the folder.
targets=(r.bin r.bin s.bin folder folder/r.bin absent/r.bin /dev/null /dev/full '' "$long" x.bin)
names=(x y r a words data hist '' '=' "$long" $'\xff' total)
devices=(cpu cpu cpu cpu:0 cpu:1 auto '' , cpu,auto opencl:0 'cpu cpu' CPU cpu:4294967296 "$long" $'\x1b[2J' vulkan,cpu)
formats=(text wire preconditions wye-program opencl-c cuda-c spirv spirv-vulkan ptx cubin:sm_90 cubin:sm_ '' nothing "$long")

arguments=()
option() {
    local flag value= takes=1
    pick --device -d --in --in --out --out --param --param --grid --elements --timeout-ms --ulp-budget --to -o --output \
        --variants --cooperative -q --check-free --json -l --strict --help --version -- --nothing -x ''
    flag=$picked
    case $flag in
        --device | -d) pick "${devices[@]}"; value=$picked ;;
        --in) pick "${names[@]}"; value=$picked; pick "${files[@]}"; value=$value=$picked ;;
        --out) pick "${names[@]}"; value=$picked; pick "${targets[@]}"; value=$value=$picked ;;
        --param) pick "${names[@]}"; value=$picked; pick "${numbers[@]}"; value=$value=$picked ;;
        --grid | --elements | --timeout-ms | --ulp-budget) pick "${numbers[@]}"; value=$picked ;;
        --to) pick "${formats[@]}"; value=$picked ;;
        -o | --output) pick "${targets[@]}"; value=$picked ;;
        *) takes=0 ;;
    esac
    if [ $takes -eq 0 ]; then
        arguments+=("$flag")
        return
    fi
    below 10
    case $drawn in
        0) arguments+=("$flag") ;;
        1) arguments+=("$flag=$value") ;;
        2) arguments+=("$flag" "$value" "$value") ;;
        *) arguments+=("$flag" "$value") ;;
    esac
}

# A valid run, to which random options are added.
usual() {
    pick saxpy mix lower info check cache
    case $picked in
        saxpy) arguments=(run saxpy.wye -d cpu --param a=2.0 --in x=x.bin --in y=x.bin --out r=r.bin) ;;
        mix) arguments=(run mix.wye -d cpu --in words=x.bin --out words=r.bin) ;;
        lower) pick "${formats[@]}"; arguments=(lower saxpy.wye --to "$picked") ;;
        info) arguments=(info) ;;
        check) pick "${files[@]}"; arguments=(check "$picked") ;;
        cache) pick size list clear nothing; arguments=(cache "$picked") ;;
    esac
}

for ((run = 0; run < runs; ++run)); do
    arguments=()
    below 4
    if [ "$drawn" -ne 0 ]; then
        usual
        below 3
    else
        pick info check lower run cache '' nothing --help
        arguments=("$picked")
        pick "${files[@]}"
        arguments+=("$picked")
        below 6
    fi
    for ((more = drawn; more > 0; --more)); do option; done
    status=0
    timeout 600 "$wye" "${arguments[@]}" >out.txt 2>err.txt </dev/null || status=$?
    judge $status err.txt "wye$(printf ' %.200q' "${arguments[@]}")"
    random_bytes x.bin 64
done
if [ -n "$(find . -name '*.bin.*' -print -quit)" ]; then fail "temporary files are left: $(find . -name '*.bin.*')"; else pass; fi
finish
