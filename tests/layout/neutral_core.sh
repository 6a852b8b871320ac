#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The core names no backend and no driver. It knows them by facts, formats and manifests.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

words='cuda|nvrtc|cubin|ptx|opencl|pocl|vulkan|spir-?v|lavapipe|llvmpipe|mesa|nvidia|radeon|amd[^6]|intel|metal|hip'

for folder in registry runtime/plan runtime/route runtime/exec; do
    while read -r file; do
        # Constants of the ABI may name backends.
        found=$(sed -E 's/WYE_[A-Z0-9_]+//g' "$file" | grep -niE "(^|[^a-z])($words)([^a-z]|$)" || true)
        if [ -z "$found" ]; then pass; continue; fi
        while IFS= read -r line; do
            fail "$file:${line%%:*}: names a backend or driver. Fix: ask for a fact, a format or a manifest's entry"
        done <<<"$found"
    done < <(find "$folder" -type f \( -name '*.cpp' -o -name '*.hpp' \) | LC_ALL=C sort)
done
# The core does not decide by the kind of a device, but by facts.
while IFS= read -r line; do
    fail "$line: compares a device's kind. Fix: ask for a fact"
done < <(grep -rnE '[=!]= *"(cpu|gpu|accelerator)"' registry runtime/plan runtime/route runtime/exec || true)
finish
