#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if runtime/SURFACE.md names a call that no public header has, or a test that its file does not have."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / 'runtime' / 'SURFACE.md'
HEADERS = [ROOT / 'plugin-abi/include/wye/abi.h', *sorted((ROOT / 'runtime/include/wye').glob('*.h'))]


def strings(text):
    """The names of the cases of a test file. A name that is split over several lines is joined."""
    for found in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', text):
        yield ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', found))


def faults_of_row(number, cells, words):
    _, calls, _, test = cells
    named = re.findall(r'`([A-Za-z_0-9.]+)`', calls)
    if not named:
        yield f'line {number}: no call'
    for name in named:
        for word in name.split('.'):
            if word not in words:
                yield f'line {number}: no public header has `{word}` of `{name}`'
    found = re.fullmatch(r'`([^`]+)`: "([^"]+)"', test)
    if not found:
        yield f'line {number}: the test is not `file`: "name"'
        return
    path, case = found.groups()
    file = ROOT / path
    if not file.is_file():
        yield f'line {number}: there is no {path}'
    elif case not in strings(file.read_text()):
        yield f'line {number}: {path} has no case "{case}"'


def main():
    words = set()
    for header in HEADERS:
        words.update(re.findall(r'\w+', re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)))
    rows, faults = 0, []
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
        if not line.startswith('|') or len(cells) != 4 or cells[0] in ('Item', '---'):
            continue
        rows += 1
        faults += faults_of_row(number, cells, words)
    if rows < 50:
        faults.append(f'only {rows} rows were read')
    for fault in faults:
        print(f'{TABLE.name}: {fault}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
