#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a part of its work, another one for another commit (slice.hpp says how).
#
#   sliced.sh NAME FIRST COUNT PARTS COMMAND...
#
# The work is COUNT items from FIRST on, in PARTS slices of the same size. In the words of the command, {first}, {end} and {count}
# become the first item of the slice, the one behind its last, and their number.
set -euo pipefail
name=$1 first=$2 count=$3 parts=$4
shift 4
slice=${WYE_TEST_SLICE:-0}
if [ "$slice" = all ]; then
    said="all $parts slices"
else
    said="slice $((slice % parts)) of $parts"
    count=$((count / parts))
    first=$((first + slice % parts * count))
fi
echo "slice: $name, $said"
words=()
for word in "$@"; do
    word=${word//"{first}"/$first}
    word=${word//"{end}"/$((first + count))}
    words+=("${word//"{count}"/$count}")
done
exec "${words[@]}"
