#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each source file names its licence in its first lines.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

all=$({ sources '*.c' '*.h' '*.cpp' '*.hpp' '*.inc' '*.def' '*.sh' '*.py' 'meson.build'; echo meson.build; echo meson_options.txt; } | LC_ALL=C sort)
named=$(xargs -d '\n' grep -nHm1 'SPDX-License-Identifier: Apache-2.0' <<<"$all" | awk -F: '$2 <= 3 { print $1 }' | LC_ALL=C sort)
while read -r file; do
    fail "$file: no licence line. Fix: begin it with SPDX-License-Identifier: Apache-2.0 in a comment"
done < <(LC_ALL=C comm -23 <(echo "$all") <(echo "$named"))
passed=$(wc -l <<<"$named")
finish
