# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Makes the temporary folder $work for a script of this folder, and counts the checks that succeed in $passed and $failed.
passed=0 failed=0

# pkg-config puts a backslash before each byte of letters that are not ASCII, and Meson cannot read that.
folder=${TMPDIR:-/tmp}
[[ $folder != *[^[:ascii:]]* ]] || folder=/tmp
work=$(mktemp -d "$folder/wye-package.XXXXXX")
trap 'rm -rf "$work"' EXIT

# try NAME COMMAND...: runs a check. The check succeeds if the command does.
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

# flags ARGUMENT...: sets $flags to what pkg-config prints, which is quoted for a shell.
flags() { eval "flags=($(pkg-config "$@"))"; }
