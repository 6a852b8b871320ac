#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the kit on a plugin that breaks a rule: finds.sh KIT PLUGIN SUITE TEXT [KEY=VALUE]. Passes if that suite of the kit fails,
# and one of the cases that failed has TEXT in its name. KEY=VALUE: the plugin's configuration.
set -euo pipefail
[ $# -eq 4 ] || [ $# -eq 5 ] || { echo "usage: finds.sh KIT PLUGIN SUITE TEXT [KEY=VALUE]" >&2; exit 2; }
status=0
out=$("$1" "$2" ${5:+--config "$5"} --test-suite="$3") || status=$?
if [ "$status" -ne 1 ]; then
    echo "finds.sh: the kit ended with status $status on $2, not with 1"
elif ! grep -qF "$4" < <(grep "^TEST CASE:" <<<"$out"); then
    echo "finds.sh: no case named '$4' failed on $2, but these:"
    grep "^TEST CASE:" <<<"$out" || true
else
    echo "1 passed, 0 failed"
    exit 0
fi
echo "0 passed, 1 failed"
exit 1
