#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every installed header must compile alone under strict warnings: .h as C11 and C++20, .hpp as C++20. The arguments are pairs of compilers
# ("CC:CXX"). The last pair compiles a sixth of the headers, each alone, in one run of the tests. All other pairs compile all headers in one
# file, which shows their warnings.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wconversion -Wshadow)
includes=()
while read -r folder; do includes+=(-I "${folder%/wye}"); done < <(find plugin-abi runtime/include -type d -name wye | sort)

# try COMPILER HEADER...: compiles all these headers in one file. Prints only "clean" if there is no warning.
try() {
    local output command=$1
    shift
    if output=$($command "${flags[@]}" "${includes[@]}" "${@/#/-include}" /dev/null 2>&1); then
        echo clean
    else
        echo "$command, $*: ${output//$'\n'/ | } Fix: make the header complete and free of warnings by itself"
    fi
}

names=()
while read -r header; do names+=("wye/${header##*/wye/}"); done < <(
    find plugin-abi runtime/include -path '*/wye/*' \( -name '*.h' -o -name '*.hpp' \) | sort)
c_names=()
for name in "${names[@]}"; do
    if [[ $name == *.h ]]; then c_names+=("$name"); fi
done
alone=${*: -1}
slice=${WYE_TEST_SLICE:-0} parts=6
if [ "$slice" = all ]; then slice=0 parts=1; fi
echo "slice: headers compiled alone, $([ $parts = 1 ] && echo all || echo "slice $((slice % parts)) of $parts")"
# Each compilation is a process of its own. All of them write whole lines to one pipe.
while read -r line; do
    if [ "$line" = clean ]; then pass; else fail "$line"; fi
done < <(
    for pair in "${@:1:$#-1}"; do
        try "${pair%%:*} -std=c11 -x c" "${c_names[@]}" &
        try "${pair##*:} -std=c++20 -x c++" "${names[@]}" &
    done
    for ((at = slice % parts; at < ${#names[@]}; at += parts)); do
        name=${names[at]}
        if [[ $name == *.h ]]; then try "${alone%%:*} -std=c11 -x c" "$name" & fi
        try "${alone##*:} -std=c++20 -x c++" "$name" &
        while [ "$(jobs -r | wc -l)" -ge 3 ]; do wait -n; done
    done
    wait
)

# Numbers in the C headers must be plain literals (1u, 0x80000000u): generators of bindings for other languages drop UINT32_C and the like.
if calls=$(grep -nE '^#define WYE_.*\bU?INT[0-9A-Z]*_C\(' plugin-abi/include/wye/*.h runtime/include/wye/*.h); then
    fail "${calls//$'\n'/ | }: bindings drop such a number. Fix: write a plain literal, as 1u"
else
    pass
fi

# The header must refuse, with a reason, each target on which its layout would differ: 32-bit and big-endian targets.
for clang in "${@%%:*}"; do
    [[ $clang == *clang* ]] || continue
    for target in i386:"64 bits" wasm32:"64 bits" powerpc64:little-endian x86_64: aarch64:; do
        refused=$("$clang" --target="${target%%:*}-unknown-none" -ffreestanding -fsyntax-only -I plugin-abi/include -include wye/abi.h \
            -x c /dev/null 2>&1 | sed -n 's/.*#error //p' || true)
        expected=${target#*:}
        if [[ -n $expected && $refused == *"$expected"* || -z $expected$refused ]]; then
            pass
        else
            fail "$clang for ${target%%:*} says '$refused' of wye/abi.h. Fix: refuse it there, by name"
        fi
    done
done
finish
