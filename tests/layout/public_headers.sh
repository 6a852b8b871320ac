#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every installed header compiles alone under strict warnings: .h as C11 and C++20, .hpp as C++20, with each compiler
# given as argument ("CC:CXX").
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wconversion -Wshadow)
includes=()
while read -r folder; do includes+=(-I "${folder%/wye}"); done < <(find plugin-abi runtime/include -type d -name wye | sort)

# Compiles one header in one language. Prints nothing if there is no warning.
try() {
    local output
    if output=$("$@" 2>&1); then
        echo clean
    else
        echo "$*: ${output//$'\n'/ | } Fix: make the header complete and free of warnings by itself"
    fi
}

# Each compilation is a separate process. All write whole lines to one pipe.
while read -r line; do
    if [ "$line" = clean ]; then pass; else fail "$line"; fi
done < <(
    running=0
    for pair in "$@"; do
        while read -r header; do
            name=wye/${header##*/wye/}
            case $header in
                *.h) try "${pair%%:*}" -std=c11 "${flags[@]}" "${includes[@]}" -include "$name" -x c /dev/null & ;;&
                *) try "${pair##*:}" -std=c++20 "${flags[@]}" "${includes[@]}" -include "$name" -x c++ /dev/null & ;;
            esac
            running=$((running + 1))
            if [ $running -ge 3 ]; then
                wait -n
                running=$((running - 1))
            fi
        done < <(find plugin-abi runtime/include -path '*/wye/*' \( -name '*.h' -o -name '*.hpp' \) | sort)
    done
    wait
)

# The contract is refused, by name, where its layout would be another: on targets of 32 bits, and on big-endian ones.
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
