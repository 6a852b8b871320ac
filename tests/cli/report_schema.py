#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares reports of `wye info --json` with their schema, and the types of each key across the reports.

usage: report_schema.py WYE SCHEMA

A key must have one type in all reports, or be null. The reports are those of this machine, of selectors
that leave plugins out or name nothing, with plugins that fail, with wrong variables, redacted, and read
back.
"""
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

wye, schema_path = sys.argv[1:]
with open(schema_path, encoding='utf-8') as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failures = []


def report(*words, **variables):
    done = subprocess.run([wye, 'info', '--json', *words], env={**os.environ, **variables},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    return json.loads(done.stdout)


def type_of(value):
    if isinstance(value, bool):
        return 'boolean'
    if isinstance(value, (int, float)):
        return 'number'
    return {str: 'string', list: 'array', dict: 'object'}[type(value)]


def walk(value, path, types):
    if value is None:
        return
    types.setdefault(path, set()).add(type_of(value))
    if isinstance(value, dict):
        for key, inner in value.items():
            walk(inner, f'{path}.{key}', types)
    elif isinstance(value, list):
        for inner in value:
            walk(inner, f'{path}[]', types)


def keys(value, path, found):
    """The keys of each object, except tables of facts."""
    if isinstance(value, dict):
        if not path.endswith('fact_sources'):
            found.setdefault(path, []).append(frozenset(value))
        for key, inner in value.items():
            keys(inner, f'{path}.{key}', found)
    elif isinstance(value, list):
        for inner in value:
            keys(inner, f'{path}[]', found)


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, 'broken.wye.json'), 'w', encoding='utf-8') as file:
        file.write('{}')
    with open(os.path.join(folder, 'notes.wye.json'), 'w', encoding='utf-8') as file:
        file.write('not JSON \x1b[31m')
    live = report()
    with open(os.path.join(folder, 'saved.json'), 'w', encoding='utf-8') as file:
        json.dump(live, file)
    back = report('--from', os.path.join(folder, 'saved.json'))
    if back != live:
        failures.append('a report that is read back is another one')
    reports = {
        'live': live,
        'cpu only': report('-d', 'cpu'),
        'nothing': report('-d', 'cpu:7'),
        'broken': report(WYE_PLUGIN_PATH=folder),
        'no such path': report(WYE_PLUGIN_PATH=folder + '/none', WYE_PLUGIN_PAHT='x'),
        'no driver': report(VK_DRIVER_FILES=folder + '/none', OCL_ICD_VENDORS=folder),
        'redacted': report('--redact'),
    }

types, found = {}, {}
for name, one in reports.items():
    for error in validator.iter_errors(one):
        failures.append(f'{name}: {"/".join(map(str, error.path))}: {error.message[:200]}')
    walk(one, '', types)
    keys(one, '', found)
for path, all_types in types.items():
    if len(all_types) > 1:
        failures.append(f'{path or "the report"} is of several types: {sorted(all_types)}')
for path, sets in found.items():
    if len(set(sets)) > 1:
        failures.append(f'{path}: not all have {sorted(set.union(*map(set, sets)) - set.intersection(*map(set, sets)))}')

# The schema refuses wrong reports.
for change in ({'schema_version': 'one'}, {'devices': {}}, {'plugins': [{'id': 1}]}):
    if validator.is_valid({**live, **change}):
        failures.append(f'the schema accepts {change}')

print('\n'.join(failures) or f'{len(reports)} reports, {len(types)} keys')
sys.exit(1 if failures else 0)
