#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails unless the declarations of plugin-abi/ROADMAP.md can be appended to the plugin headers: they compile after them as C11 and as
C++20, without holes, and with numbers that are free; slots begin where a table ends today; entries and flags have a place.

usage: roadmap.py INCLUDE CC:CXX...
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'plugin-abi/ROADMAP.md'
STRICT = ['-fsyntax-only', '-Wall', '-Wextra', '-Wpedantic', '-Werror']


def enumerations(text):
    """The names of each enumeration's enumerators, by the name of the enumeration."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    return {name: re.findall(r'(\w+) = ', body) for name, body in re.findall(r'\benum (\w+) \{(.*?)\}', text, re.S)}


def structures(text):
    return re.findall(r'((?:/\*(?:(?!\*/).)*\*/\n)?)typedef struct (\w+) \{\n(.*?)\n\} \2;', text, re.S)


def checks(header, page):
    """C code that compiles only if the page's declarations fit behind those of the headers, and the number of its checks."""
    out = []
    bases, later = enumerations(header), enumerations(page)
    for base in sorted({name.partition('_of_')[0] for name in later if '_of_' in name}):
        # The chain types of all headers form one list of numbers.
        lists = [name for name in bases if name == base or base == 'wye_chain_type' and name.endswith('chain_type')]
        names = [one for name in lists for one in bases[name]]
        names += [one for name in later if name.partition('_of_')[0] == base for one in later[name]]
        if not lists:
            sys.exit(f'ROADMAP.md: the headers have no enum {base}. Fix: name the list that is appended to')
        out.append(f'int free_{base}(int n); int free_{base}(int n) {{ switch (n) {{\n'
                   + ''.join(f'    case {one}:\n' for one in names) + '        return 1;\n    default: return 0; } }')
    if '#define WYE_FACTS_LATER(X)' in page:
        out.append('#define ONE(name, key, json, type) case key:\n'
                   'int free_fact(int n); int free_fact(int n) { switch (n) { WYE_FACTS(ONE) WYE_FACTS_LATER(ONE) return 1; default: return 0; } }')
    for comment, name, body in structures(page):
        base = name.partition('_with_')[0]
        if base != name:
            first = re.search(r'\(\*(\w+)\)\(', body)[1]
            out.append(f'static_assert(offsetof({name}, before) == 0 && offsetof({name}, {first}) == sizeof({base}), "{name}");')
        elif name.endswith('_op'):
            out.append(f'static_assert(sizeof({name}) <= sizeof(((wye_operation*)0)->u), "{name}");')
        elif 'Never grows' not in comment:
            out.append(f'static_assert(offsetof({name}, header) == 0 && sizeof((({name}*)0)->header) == sizeof(wye_header), "{name}");')
    for owner, entry in re.findall(r'/\* in (wye_\w+)[^:]*?: (wye_\w+)', page):
        chain = 'next' if owner == 'wye_operation' else 'header.next'
        out.append(f'static_assert(sizeof((({owner}*)0)->{chain}) == sizeof((({entry}*)0)->header.next), "{entry}");')
    for owner in re.findall(r'In flags of (wye_\w+)|in flags of (wye_\w+)', page):
        out.append(f'static_assert(sizeof((({"".join(owner)}*)0)->flags) == 4, "{"".join(owner)}");')
    return '\n'.join(out) + '\n', len(out)


def main():
    include, pairs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    blocks = re.findall(r'^```c\n(.*?)^```$', PAGE.read_text(encoding='utf-8'), re.S | re.M)
    page = '\n'.join(blocks)
    headers = sorted((include / 'wye').glob('abi*.h'))
    header = '\n'.join(path.read_text(encoding='utf-8') for path in headers)
    checked, count = checks(header, page)
    if len(blocks) < 9 or count < 30:
        sys.exit(f'ROADMAP.md: only {len(blocks)} blocks of C with {count} checks were found. Fix: mark them as ```c, or correct the patterns')
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'roadmap.c'
        source.write_text(''.join(f'#include "wye/{path.name}"\n' for path in headers) + '#include <assert.h>\n' + page + checked,
                          encoding='utf-8')
        for pair in pairs:
            cc, _, cxx = pair.partition(':')
            for command in ([cc, '-std=c11', '-Wpadded', '-x', 'c'], [cxx, '-std=c++20', '-x', 'c++']):
                built = subprocess.run([*command, *STRICT, '-I', str(include), str(source)], capture_output=True, text=True, check=False)
                if built.returncode != 0:
                    failed += 1
                    print(f'ROADMAP.md does not fit ({" ".join(command)}). Fix: correct the page, or make room in the header:\n{built.stderr}')
    print(f'{len(blocks)} blocks, {count} checks, {failed} compilers refuse them')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
