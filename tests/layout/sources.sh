# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder. Changes to the top folder of the source tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# sources GLOB...: lists the files of the tree whose names match one of the globs, sorted.
sources() {
    local args=() glob
    for glob in "$@"; do args+=(-o -name "$glob"); done
    find plugin-abi registry plugins runtime tools tests -type f \( "${args[@]:1}" \) | LC_ALL=C sort
}

passed=0
failed=0
# fail SENTENCE: reports one finding, with its remedy.
fail() {
    printf '%s\n' "$1"
    failed=$((failed + 1))
}
pass() { passed=$((passed + 1)); }
# finish: prints the last line of a test and exits with its status. Fails if no file was checked.
finish() {
    echo "$passed looked at and in order, $failed findings"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
