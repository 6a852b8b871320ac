#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if runtime/SURFACE.md names a call that no public header has, a member that its structure does not have, or a test that
its file does not have, or if a line cuts a table in two."""
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


def members(text):
    """The names of each structure's members, by the structure's name. Members of its unions count as its own."""
    for body, name in re.findall(r'typedef struct \w+ \{(.*?)\n\} (\w+);', text, flags=re.S):
        yield name, set(re.findall(r'(\w+)(?:\[[^\]]*\])*(?=[;,)])', body))


TEST = re.compile(r'`([^`]+)`: "([^"]+)"')


def cells_of_rows():
    """The rows of the table: the number of each line, and its four cells."""
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip('|').split(' | ')]
        if line.startswith('|') and len(cells) == 4 and cells[0] not in ('Item', '---'):
            yield number, cells


def names_in(calls):
    return re.findall(r'`([A-Za-z_0-9.]+)`', calls)


def rows():
    """For each well-formed row: the number of its line, the names in it, and the file and the name of its test."""
    for number, cells in cells_of_rows():
        if found := TEST.fullmatch(cells[3]):
            yield number, names_in(cells[1]), *found.groups()


def faults_of_row(number, cells, words, structures):
    _, calls, _, test = cells
    named = names_in(calls)
    if not named:
        yield f'line {number}: no call'
    for name in named:
        owner, _, member = name.partition('.')
        if owner not in words:
            yield f'line {number}: no public header has `{owner}`'
        elif member and member not in structures.get(owner, ()):
            yield f'line {number}: `{owner}` has no member `{member}`'
    found = TEST.fullmatch(test)
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
    words, structures = set(), {}
    for header in HEADERS:
        text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
        words.update(re.findall(r'\w+', text))
        structures.update(members(text))
    count, faults, before = 0, [], ''
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if line.startswith('|') and not before.startswith('|') and not line.startswith('| Item |'):
            faults.append(f'line {number}: a table begins without its head')
        before = line
    for number, cells in cells_of_rows():
        count += 1
        faults += faults_of_row(number, cells, words, structures)
    if count < 50:
        faults.append(f'only {count} rows were read')
    for fault in faults:
        print(f'{TABLE.name}: {fault}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
