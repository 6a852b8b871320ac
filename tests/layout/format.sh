#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C and C++ file is as clang-format 14 writes it. $1: that clang-format.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

while read -r file; do
    if "$1" --dry-run -Werror --style=file "$file" 2>/dev/null; then
        pass
    else
        fail "$file: not formatted. Fix: clang-format-14 -i $file"
    fi
done < <(sources '*.c' '*.h' '*.cpp' '*.hpp')
finish
