#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails unless runtime/ERRORS.md has one complete row for each status code of the ABI's header, in the same order."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / 'plugin-abi/include/wye/abi.h').read_text()
PAGE = (ROOT / 'runtime/ERRORS.md').read_text()


def main():
    table = re.search(r'#define WYE_STATUSES\(X\)(.*?[^\\])\n', HEADER, re.S)
    codes = re.findall(r'X\((\w+), \d+,', table[1]) if table else []
    rows = re.findall(r'^\| `([A-Z_]+)` \|(.*)\|$', PAGE, re.M)
    named = [name for name, _ in rows]
    faults = []
    if len(codes) < 39:
        faults.append(f'only {len(codes)} codes were read from the header')
    faults += [f'there is no row for {name}. Fix: say what it means and what to do' for name in codes if name not in named]
    faults += [f'the header has no code {name}. Fix: remove its row' for name in named if name not in codes]
    if not faults and named != codes:
        faults.append('the rows are not in the order of the header, or one is there twice. Fix: order them')
    for name, rest in rows:
        cells = [cell.strip() for cell in rest.split(' | ')]
        if len(cells) != 3 or (name != 'OK' and not all(cells)):
            faults.append(f'the row of {name} is not complete. Fix: give meaning, cause and what to do')
    for fault in faults:
        print(f'ERRORS.md: {fault}')
    print(f'{len(codes)} codes, {len(faults)} findings')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
