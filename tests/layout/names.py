#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a function in an unnamed namespace of a source file has the name of a function that a header of its library declares in
the same namespace. If several files are compiled together, the other files see both functions, and calls could choose the wrong
one. A folder with a meson.build counts as a library, together with its subfolders that have no meson.build."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r'^(?:template <.*> *)?(?:\[\[\w+\]\] )?(?!return\b|else\b|using\b|typedef\b|#|//|TEST_CASE)[A-Za-z_][\w:<>,&* ]*?[ &*](\w+)\(')
KEYWORDS = {'if', 'for', 'while', 'switch', 'defined', 'static_assert', 'decltype', 'alignas'}


def functions(path):
    """(namespace, whether it is unnamed, name, line) of each function at the outermost level."""
    text = re.sub(r'R"(\w*)\((.*?)\)\1"', lambda raw: '\n' * raw[0].count('\n'), path.read_text(encoding='utf-8'), flags=re.S)
    outer, unnamed = '', False
    for number, line in enumerate(text.splitlines(), 1):
        if opened := re.match(r'namespace ([\w:]+) \{', line):
            outer = opened[1]
        elif line.startswith('namespace {'):
            unnamed = True
        elif line.rstrip() == '}  // namespace':
            unnamed = False
        elif (found := FUNCTION.match(line)) and found[1] not in KEYWORDS:
            yield outer, unnamed, found[1], number


def library(path):
    folder = path.parent
    while not (folder / 'meson.build').exists():
        folder = folder.parent
    return folder


def main():
    files = [path for path in ROOT.rglob('*.[ch]pp')
             if not path.relative_to(ROOT).parts[0].startswith(('build', '.')) and library(path) != ROOT]
    declared = collections.defaultdict(list)
    for path in files:
        if path.suffix == '.hpp':
            for outer, _, name, _ in functions(path):
                declared[library(path), outer, name].append(path.relative_to(ROOT))
    faults = [f'{path.relative_to(ROOT)}:{number}: `{name}` is also declared in {declared[library(path), outer, name][0]}. '
              'Fix: rename the one that only this file has'
              for path in files if path.suffix == '.cpp' for outer, unnamed, name, number in functions(path)
              if unnamed and (library(path), outer, name) in declared]
    print('\n'.join(faults) or f'{len(files)} files, {len(declared)} functions of headers')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
