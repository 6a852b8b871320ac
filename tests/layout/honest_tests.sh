#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No test is switched off, allowed to fail, or unable to fail.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

while read -r file; do
    if found=$(grep -nE 'doctest::(skip|may_fail|should_fail|expected_failures)|\b(CHECK|REQUIRE)\((true|1)\)|\breturn 77;|\bexit 77\b' "$file"); then
        fail "$file: ${found//$'\n'/; }. Fix: make the test run and able to fail, or remove it"
    else
        pass
    fi
done < <(sources '*.c' '*.cpp' '*.hpp' '*.sh' | grep '^tests/' | grep -v '^tests/layout/honest_tests.sh$')
finish
