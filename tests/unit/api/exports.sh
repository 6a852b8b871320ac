#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that libwye.so exports exactly the functions of its C headers, with version WYE_0.1.
#   exports.sh LIBRARY HEADER...
set -euo pipefail
library=$1
shift
declared=$(sed -n 's/^WYE_API .*\b\(wye_[a-z_]*\)(.*/\1/p' "$@" | LC_ALL=C sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
versioned=$(sed 's/$/@@WYE_0.1/' <<<"$declared")
[ "$(grep -c . <<<"$declared")" -gt 20 ] || { echo "found hardly any declaration in $*"; exit 1; }
if ! diff <(echo "$versioned") <(echo "$exported"); then
    echo "< declared only   > exported only"
    echo "Fix: keep runtime/libwye.map and the headers alike"
    exit 1
fi
echo "$(grep -c . <<<"$declared") functions"
