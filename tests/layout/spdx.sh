#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each source file names its licence in its first lines.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

while read -r file; do
    if head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
        pass
    else
        fail "$file: no licence line. Fix: begin it with SPDX-License-Identifier: Apache-2.0 in a comment"
    fi
done < <(sources '*.c' '*.h' '*.cpp' '*.hpp' '*.inc' '*.def' '*.sh' '*.py' 'meson.build'; echo meson.build; echo meson_options.txt)
finish
