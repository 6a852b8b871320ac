#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C and C++ file is formatted as clang-format 14 does. $1: the clang-format command.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

# One run of clang-format over all files, which reports each line that it would change.
bad=$(sources '*.c' '*.h' '*.cpp' '*.hpp' | xargs "$1" --dry-run --style=file 2>&1 |
    sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: (warning|error).*/\1/p' | sort -u)
while read -r file; do
    if grep -qxF "$file" <<<"$bad"; then
        fail "$file: not formatted. Fix: clang-format-14 -i $file"
    else
        pass
    fi
done < <(sources '*.c' '*.h' '*.cpp' '*.hpp')
finish
