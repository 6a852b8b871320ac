#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on one slice of its work; another commit gets another slice (slice.hpp).
#
#   sliced.sh NAME FIRST COUNT PARTS COMMAND...
#
# The work is COUNT items, beginning at FIRST, in PARTS slices of equal size. In the words of the command, {first}, {end} and {count} become
# the first item of the slice, the item behind its last one, and the number of its items.
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
