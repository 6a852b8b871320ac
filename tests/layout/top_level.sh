#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The top folder of the tree must hold the expected entries, and no others.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

expected='LICENSE README.md meson.build meson_options.txt plugin-abi plugins registry runtime tests tools'
for name in $expected; do
    if [ -e "$name" ]; then pass; else fail "$name: missing at the top level. Fix: put it back"; fi
done
# In a checkout, only files tracked by git are checked; a user's own files are ignored.
if ! names=$(git -c safe.directory='*' ls-files 2>/dev/null | cut -d/ -f1 | sort -u) || [ -z "$names" ]; then
    names=$(ls -A | grep -v '^build' || true)
fi
for name in $names; do
    case " $expected " in *" $name "*) continue ;; esac
    case "$name" in
        .*) ;;
        *) fail "$name: not a top-level entry of this project. Fix: move it into one of: $expected" ;;
    esac
done
finish
