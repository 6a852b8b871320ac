#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of plugins/layers/README.md.

usage: layers_check.py WYE README LAYERS_FOLDER MOCK_FOLDER SAXPY

Lines that begin with `    $ ` are commands. The indented lines after a command are parts of the lines that it prints, in order.
`exit status N` states a status other than 0. Also checks that Python's JSON reader accepts the trace of the examples, and that
this trace has one event for each line of the text trace.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

wye, readme, layers, mock, saxpy = (pathlib.Path(word).resolve() for word in sys.argv[1:])
failures = []


def examples():
    """(command, lines that it prints) of each example."""
    found = []
    indented = False
    for line in readme.read_text(encoding='utf-8').splitlines():
        if line.startswith('    $ '):
            found.append((line[6:], []))
            indented = True
        elif indented and line.startswith('    '):
            found[-1][1].append(line[4:])
        else:
            indented = False
    return found


def run(command, expected):
    done = subprocess.run(['bash', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=600)
    status = 0
    if expected and expected[-1].startswith('exit status '):
        status = int(expected[-1].split()[-1])
        expected = expected[:-1]
    at = 0
    for line in expected:
        at = done.stdout.find(line, at)
        if at < 0:
            failures.append(f'{command}\n  does not print: {line}\n  but:\n{done.stdout}')
            return
    if done.returncode != status:
        failures.append(f'{command}\n  has the exit status {done.returncode}, not {status}:\n{done.stdout}')


def check_traces():
    text = pathlib.Path('calls.txt').read_text(encoding='utf-8').splitlines()
    with open('calls.json', encoding='utf-8') as file:
        events = json.load(file)
    if events[0]['name'] != 'process_name' or not text[0].startswith('# Calls of plugins by process '):
        failures.append('the traces do not begin with their process')
    calls = events[1:]
    if len(calls) != len(text) - 1:
        failures.append(f'the same work gave {len(calls)} events and {len(text) - 1} lines')
    for event in calls:
        if set(event) != {'name', 'cat', 'ph', 'ts', 'dur', 'pid', 'tid', 'args'} or event['ph'] != 'X' or 'result' not in event['args']:
            failures.append(f'a strange event: {event}')
    submits = [event for event in calls if event['name'] == 'submit']
    if not submits or any('dispatch' not in event['args']['operations'] for event in submits[-1:]):
        failures.append(f'no submit of a dispatch: {submits}')


def main():
    found = examples()
    # The page has no quotes around the paths MOCK and LAYERS, so these paths must not contain blanks.
    with tempfile.TemporaryDirectory(dir='/tmp') as folder:
        os.chdir(folder)
        pathlib.Path('saxpy.wye').write_bytes(saxpy.read_bytes())
        for name in ('x.bin', 'y.bin'):
            pathlib.Path(name).write_bytes(bytes(4096))
        os.environ['PATH'] = f'{wye.parent}:{os.environ["PATH"]}'
        os.environ['WYE_PLUGIN_PATH'] = str(layers)
        for variable, target in (('MOCK', mock), ('LAYERS', layers)):
            os.environ[variable] = f'{folder}/{variable.lower()}'
            os.symlink(target, os.environ[variable])
        os.environ['WYE_CACHE_DIR'] = ''
        for name in ('WYE_LAYERS', 'WYE_LOG', 'WYE_DEVICE'):
            os.environ.pop(name, None)
        for command, expected in found:
            run(command, expected)
        check_traces()
    if len(found) < 7:
        failures.append(f'{readme} has {len(found)} examples only')
    for failure in failures:
        print(failure)
    print(f'{len(found)} examples, {len(failures)} failures')
    return 1 if failures else 0


sys.exit(main())
