# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Counts which checks succeed, for the scripts of this folder. Sourced, once $work is a folder. The counts are in $passed and
# $failed.
passed=0 failed=0

# try NAME COMMAND...: runs a check, which is a command that must succeed.
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
