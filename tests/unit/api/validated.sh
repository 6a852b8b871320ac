#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test through the layer `validate`. Fails if the library or a plugin breaks the contract.
#
#   validated.sh LAYERS_FOLDER COMMAND...
set -euo pipefail
folder=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
WYE_LAYERS=validate WYE_PLUGIN_PATH_ADD=$folder WYE_PROBE=off WYE_LOG=error,validate:info "$@" >"$log" 2>&1 || status=$?
[ "$status" -eq 0 ] || cat "$log"
# On a busy machine a wait may end a second after its limit, without a fault of the plugin.
if grep 'validate: [HP]-[0-9]*:' "$log" | grep -v 'validate: P-27: .*it took [0-9]* ns, with a limit of'; then status=1; fi
# At its end, each context logs how many breaches the layer found in how many calls.
calls=$(sed -nE 's/.*validate: plugin .*: [0-9]+ breaches in ([0-9]+) calls.*/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
echo "$calls calls"
[ "$calls" -gt 100 ] || { echo "the layer saw no work"; status=1; }
exit "$status"
