#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The core knows no backend and no driver by name: what it has to know of one is a fact, a format or a manifest.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

words='cuda|nvrtc|cubin|ptx|opencl|pocl|vulkan|spir-?v|lavapipe|llvmpipe|mesa|nvidia|radeon|amd[^6]|intel|metal|hip'

for folder in registry runtime/plan runtime/route runtime/exec; do
    while read -r file; do
        # Names of the ABI's constants are not the core's.
        found=$(sed -E 's/WYE_[A-Z0-9_]+//g' "$file" | grep -niE "(^|[^a-z])($words)([^a-z]|$)" || true)
        if [ -z "$found" ]; then pass; continue; fi
        while IFS= read -r line; do
            fail "$file:${line%%:*}: names a backend or driver. Fix: ask for a fact, a format or a manifest's entry"
        done <<<"$found"
    done < <(find "$folder" -type f \( -name '*.cpp' -o -name '*.hpp' \) | LC_ALL=C sort)
done
# What a device is decides nothing in the core: a fact says what follows from it.
while IFS= read -r line; do
    fail "$line: compares a device's kind. Fix: ask for a fact"
done < <(grep -rnE '[=!]= *"(cpu|gpu|accelerator)"' registry runtime/plan runtime/route runtime/exec || true)
finish
