#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each source file names its licence in its first lines.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

while read -r file; do
    fail "$file: no licence line. Fix: begin it with SPDX-License-Identifier: Apache-2.0 in a comment"
done < <({ sources '*.c' '*.h' '*.cpp' '*.hpp' '*.inc' '*.def' '*.sh' '*.py' 'meson.build'; echo meson.build; echo meson_options.txt; } |
    xargs -d '\n' awk 'FNR == 1 { if (NR > 1 && !named) print last; named = 0; last = FILENAME }
        FNR <= 3 && /SPDX-License-Identifier: Apache-2.0/ { named = 1 }
        END { if (!named) print last }')
passed=$(sources '*.c' '*.h' '*.cpp' '*.hpp' | wc -l)
finish
