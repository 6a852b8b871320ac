#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No source file has more than 800 lines, except the ABI header (one contract, one file). Prints the size of the tree.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

limit=800
sizes=$(mktemp)
trap 'rm -f "$sizes"' EXIT
sources '*.c' '*.h' '*.cpp' '*.hpp' '*.inc' '*.def' '*.sh' '*.py' 'meson.build' '*.wye' | xargs wc -l | awk '$2 != "total"' >"$sizes"
find tools .ci -type f ! -name '*.*' | xargs wc -l | awk '$2 != "total"' >>"$sizes"
while read -r lines file; do
    if [ "$lines" -le "$limit" ] || [ "$file" = plugin-abi/include/wye/abi.h ]; then
        pass
    else
        fail "$file: $lines lines, above $limit. Fix: split it by noun"
    fi
done <"$sizes"
grep -E '\.(c|h|cpp|hpp)$' "$sizes" | sort -n | awk '
    { size[NR] = $1; sum += $1; largest = $2 }
    END { if (NR) printf "%d C and C++ files, %d lines, median %d, largest %d (%s)\n", NR, sum, size[int((NR + 1) / 2)], size[NR], largest }'
finish
