#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The core must not name a backend or driver. It knows these only by facts, formats and manifests.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

words='cuda|nvrtc|cubin|ptx|opencl|pocl|vulkan|spir-?v|lavapipe|llvmpipe|mesa|nvidia|radeon|amd[^6]|intel|metal|hip'

core='registry runtime/plan runtime/route runtime/exec'
# Constants of the ABI may name a backend.
while IFS=: read -r file line text; do
    fail "$file:$line: names a backend or driver. Fix: ask for a fact, a format or a manifest's entry"
done < <(grep -rniE --include='*.[ch]pp' "(^|[^a-z])($words)([^a-z]|$)" $core | sed -E 's/WYE_[A-Z0-9_]+//g' | grep -iE "^[^:]*:[^:]*:(.*[^a-z])?($words)([^a-z]|$)" || true)
passed=$(find $core -name '*.[ch]pp' | wc -l)
# The core must not decide by the kind of a device, only by facts.
while IFS= read -r line; do
    fail "$line: compares a device's kind. Fix: ask for a fact"
done < <(grep -rnE '[=!]= *"(cpu|gpu|accelerator)"' $core || true)
finish
