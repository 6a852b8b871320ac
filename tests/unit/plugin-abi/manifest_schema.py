#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates manifests against the published schema: good ones, bad ones, and those of the plugins as built.

usage: manifest_schema.py SCHEMA FOLDER MANIFEST...
FOLDER has good_*.json, bad_*.json and warned_*.json, with which the host's own reader is tested too.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("python3-jsonschema is missing. Fix: run tools/setup")


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    folder = sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    built = [pathlib.Path(name) for name in sys.argv[3:]]
    if len(folder) < 30 or not built:
        sys.exit(f"only {len(folder)} examples and {len(built)} built manifests. Fix: pass the right folders")
    wrong = 0
    for path in folder + built:
        expected = path in built or path.name.startswith("good_")
        faults = [fault.message for fault in validator.iter_errors(json.loads(path.read_text()))]
        if expected != (not faults):
            wrong += 1
            print(f"{path}: {'; '.join(faults) or 'is accepted'}. Fix: correct the schema or the file")
    print(f"{len(folder) + len(built) - wrong} of {len(folder) + len(built)} manifests as expected")
    return 1 if wrong else 0


sys.exit(main())
