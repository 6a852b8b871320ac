#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In runtime/lower, only the folder of the quirk table may name drivers. Elsewhere a driver's name may appear only as a part of a quirk's
# name: `Quirk::...` in code, "quirk `...`" in a comment. The quirk tables of plugins are checked, too.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

drivers='nvidia|mesa|lavapipe|llvmpipe|radv|pocl|ptxas|nvvm|nvcc|oclgrind|\bamd\b|\bintel\b|adreno|\bmali\b|device_kind'
while read -r file; do
    found=$(sed -E 's/Quirk::[A-Za-z0-9]+//g; s/quirks? `[a-z0-9-]+`//g' "$file" | grep -niE "$drivers" | head -1 || true)
    if [ -z "$found" ]; then pass; else
        fail "$file:$found: names a driver. Fix: make it an entry of runtime/lower/quirks/, and ask for that"
    fi
done < <(find runtime/lower -type f \( -name '*.?pp' -o -name '*.md' -o -name '*.in' -o -name '*.wye' \) -not -path '*/quirks/*' | LC_ALL=C sort)

# A comment at the code of each workaround of a plugin must name it: `quirk ID`, `quirks ID` or `ID and ID`.
for table in plugins/*/quirks.hpp; do
    for id in $(sed -nE 's/^    \{"([a-z0-9-]+)",.*/\1/p' "$table"); do
        if grep -rqE "^[^\"]*//.*quirks? .*$id\b|^// .*\b$id\b" --include='*.?pp' --exclude=quirks.hpp "$(dirname "$table")"; then pass; else
            fail "$table: no code says \`quirk $id\`. Fix: name it in a comment at the code that works around it"
        fi
    done
done
finish
