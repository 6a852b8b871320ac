#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: exit_order.sh LIBRARY...
# No static or thread-local object of a library may have a destructor that runs when the process, a thread or the library ends, since exit
# handlers and destructors of the application may still call the library then. Such objects call __cxa_atexit or __cxa_thread_atexit.
# std::atexit, which registers a plain function, is allowed.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

for library in "$@"; do
    disassembled=$(objdump -d --no-show-raw-insn "$library")
    [ "$(grep -c '^[0-9a-f]* <' <<<"$disassembled")" -gt 10 ] || fail "$library: objdump shows no functions"
    found=$(awk '/^[0-9a-f]+ <.*>:$/ { name = $2 }
        /(call|jmp|bl|b) .*<__cxa_(thread_)?atexit/ && name !~ /^<(atexit|__cxa_(thread_)?atexit.*)>:$/ { print name }' \
        <<<"$disassembled" | sort -u | c++filt -_ | tr -d '<>')
    if [ -n "$found" ]; then
        while read -r name; do fail "$library: ${name%:} has a static with a destructor. Fix: sdk::Lasting, or constexpr"; done <<<"$found"
    else
        pass
    fi
done
finish
