# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Counts what works, for the scripts here: to be sourced, once $work is a folder. The counts are in $passed and $failed.
passed=0 failed=0

# try NAME COMMAND...: the command must succeed.
try() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' "$work/log" | tail -n 40
    fi
}
