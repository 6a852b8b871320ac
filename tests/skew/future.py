#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a source tree as a later minor may have it: links to this one, and headers in which everything has grown.

usage: future.py SOURCE TARGET [--draft N]

The headers of the plugin ABI in TARGET are those of SOURCE with WYE_ABI_MINOR one higher. Wherever a minor may append, they have
one more member, slot, flag, kind, fact, format, number or meaning of a spare word. program_format.h has another minor, section and
flags, and each list has another row. wye/abi_later.h has an extension and a chain entry that only TARGET has. In
the headers of the library, structures have another member, as a later 0.x may add it. With --draft the minor of the ABI is in
development. Exit status: 0, or 1 if a header has a structure that this script does not know how to grow. TARGET may be there from
an earlier run.
"""
import argparse
import os
import pathlib
import re
import sys

# Structures without a header. They are elements of arrays or members of unions, so either they have spare words of their own or
# they never grow. If the only spare word gets a meaning, a union keeps the old name, too, which the sdk's checks use.
ROOM = {'wye_slot': ('uint32_t reserved[3];', 'uint32_t later, later_too, reserved[1];'),
        'wye_binding': ('uint64_t reserved;', 'uint32_t later, reserved;'),
        'wye_event': ('uint32_t reserved;', 'union { uint32_t reserved, later; };'),
        'wye_dispatch_op': None, 'wye_copy_op': None, 'wye_fill_op': None, 'wye_transfer_op': None, 'wye_execute_op': None}
FIXED = {'wye_string', 'wye_bytes', 'wye_header', 'wye_edge', 'wye_operation', 'wye_native_value', 'wye_named_entry'}
STRUCTURE = re.compile(r'typedef struct (wye_\w+) \{\n(.*?)\n\} \1;', re.S)
ENUM = re.compile(r'enum (wye_\w+) \{(.*?)\n?\};', re.S)
LIST = re.compile(r'#define (WYE_\w+)\(X\)(?:[^\n]*\\\n)+[^\n]*\n')
# A definition of each family, and what a later minor may append to the family.
DEFINITIONS = {'WYE_FORMAT_SPIRV': 'WYE_FORMAT_LATER "later-ir"', 'WYE_BUILD_UNLOADABLE': 'WYE_BUILD_LATER 0x20u',
               'WYE_HEAD_ADJUSTABLE': 'WYE_HEAD_LATER UINT32_C(2)', 'WYE_BUFFER_HINTS': 'WYE_BUFFER_LATER UINT32_C(16)',
               'WYE_SECTION_NAMES': 'WYE_SECTION_LATER_NOTE UINT32_C(0x80000002)'}

LATER = """/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WYE_ABI_LATER_H
#define WYE_ABI_LATER_H
#include "wye/abi.h"
#define WYE_EXTENSION_LATER "wye.later"
#define WYE_LATER_FLAG 1u /* where there were no flags */
#define WYE_CHAIN_LATER 6u
typedef struct wye_later_entry {
    wye_header header;
    uint64_t later;
} wye_later_entry;
typedef struct wye_later_table {
    wye_header header;
    wye_status (*later)(wye_device_object* device, uint64_t argument, wye_error** error);
} wye_later_table;
#endif
"""


def grow_structure(match):
    name, body = match.group(1), match.group(2)
    if name in FIXED:
        return match.group(0)
    if name in ROOM:
        if ROOM[name]:
            old, new = ROOM[name]
            if old not in body:
                raise SystemExit(f'future.py: {name} has no `{old}` left. '
                                 'Fix: name in ROOM the member in which the structure grows now')
            return match.group(0).replace(old, new)
        return f'typedef struct {name} {{\n{body}\n    uint64_t later;\n}} {name};'
    if 'wye_header header;' not in body:
        raise SystemExit(f'future.py: {name} has no header. Fix: give it one, or name it in FIXED or ROOM')
    if name.endswith('_table'):
        more = '    wye_status (*later)(void* object, uint64_t argument, wye_error** error);'
    else:
        more = '    uint64_t later[3];'
    return f'typedef struct {name} {{\n{body}\n{more}\n}} {name};'


def grow_enum(match):
    name, body = match.group(1), match.group(2)
    values = re.findall(r'(WYE_\w+) = (\d+|0x[0-9a-fA-F]+)\b', body)
    if not values or re.search(r'_ENUM\w*\(', body):  # an enum made from a list stays as it is
        return match.group(0)
    last = max(int(value, 0) for _, value in values)
    number = last * 2 if 'flags' in name and last else last + 1
    stripped = re.sub(r'/\*.*?\*/', '', body, flags=re.S).rstrip()
    comma = '' if stripped.endswith(',') else ','
    at = body.rstrip()
    comment = ''
    if at.endswith('*/'):
        at, comment = at[:at.rindex('/*')].rstrip(), ' ' + at[at.rindex('/*'):]
    return f'enum {name} {{{at}{comma}{comment}\n    WYE_LATER_{name[4:].upper()} = {number}\n}};'


def grow_list(text, name):
    """The text with one more row at the end of a list. The row has the next number, and counts of the list grow by 1."""
    match = next(match for match in LIST.finditer(text) if match.group(1) == name)
    rows = re.findall(r'X\((\w+), (\w+)(, "[^"]*")?([^()]*)\)', match.group(0))
    number = max(int(row[1], 0) for row in rows) + 1
    own = 'later_' + name.removeprefix('WYE_').lower()
    word = f', "{own}"' if rows[-1][2] else ''
    longer = f'{match.group(0).rstrip()} \\\n    X({own.upper()}, {number}{word}{rows[-1][3]})\n'
    rest = re.sub(rf'(_(?:FIRST_FREE|COUNT) = ){number}\b', rf'\g<1>{number + 1}', text[match.end():], count=1)
    return text[:match.start()] + longer + rest


def grow(text, draft):
    """A header of the plugin ABI as a later minor may have it."""
    for minor in ('ABI', 'PROGRAM'):
        text = re.sub(rf'(#define WYE_{minor}_MINOR )(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), text)
    if draft:
        text = re.sub(r'(#define WYE_ABI_MINOR_DRAFT )\d+', rf'\g<1>{draft}', text)
    else:
        text = re.sub(r'(#define WYE_ABI_MINOR_FROZEN )(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), text)
        text = re.sub(r'(#define WYE_ABI_MINOR_DRAFT )\d+', r'\g<1>0', text)
    text = STRUCTURE.sub(grow_structure, text)
    text = ENUM.sub(grow_enum, text)
    if '#define WYE_FACTS(X)' in text:  # facts are in groups, and each group has a first number
        text = re.sub(r'(    /\* limits \*/ )', r'    X(LATER, 0x0ff, "later", BOOL) \\\n\1', text, count=1)
    for name in [match.group(1) for match in LIST.finditer(text)]:
        if name not in ('WYE_FACTS', 'WYE_MATH'):  # a new math function would need a new math set
            text = grow_list(text, name)
    for known, more in DEFINITIONS.items():
        text = re.sub(rf'(#define {known} .*\n)', rf'\1#define {more}\n', text)
    return text


def grow_library(text):
    """A header of the library: structures with a header have another member."""
    return STRUCTURE.sub(lambda match: match.group(0) if 'wye_header header;' not in match.group(2) else
                         f'typedef struct {match.group(1)} {{\n{match.group(2)}\n    uint64_t later;\n}} {match.group(1)};', text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].removeprefix('usage: '), add_help=False)
    parser.add_argument('source')
    parser.add_argument('target')
    parser.add_argument('--draft', type=int, default=0)
    given = parser.parse_args()
    source, target = pathlib.Path(given.source).resolve(), pathlib.Path(given.target)

    def link(folder, without):
        (target / folder).mkdir(parents=True, exist_ok=True)
        for old in (target / folder).iterdir():
            if old.is_symlink():
                old.unlink()
        for entry in sorted((source / folder).iterdir()):
            if entry.name not in without:
                (target / folder / entry.name).symlink_to(entry)

    def write(path, text):
        if not path.exists() or path.read_text(encoding='utf-8') != text:  # an unchanged file keeps its time stamp
            path.write_text(text, encoding='utf-8')

    abi, library = pathlib.Path('plugin-abi/include/wye'), pathlib.Path('runtime/include/wye')
    link('.', {'plugin-abi', 'runtime', *(name for name in os.listdir(source) if name.startswith('build') or name == '.git')})
    for folder, change in ((abi, lambda text: grow(text, given.draft)), (library, grow_library)):
        headers = sorted((source / folder).glob('*.h'))
        link(folder.parts[0], {'include'})
        link(folder.parent, {'wye'})
        link(folder, {header.name for header in headers})
        for header in headers:
            write(target / folder / header.name, change(header.read_text(encoding='utf-8')))
    missing = [name for name in DEFINITIONS if not any(f'#define {name} ' in header.read_text(encoding='utf-8')
                                                       for header in (source / abi).glob('*.h'))]
    if missing:
        raise SystemExit(f'future.py: {missing[0]} is not defined any more. Fix: correct DEFINITIONS')
    write(target / abi / 'abi_later.h', LATER)
    return 0


if __name__ == '__main__':
    sys.exit(main())
