#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a source tree as a later minor may have it: links to this one, and headers of the plugin ABI in which everything has grown.

usage: future.py SOURCE TARGET [--draft N]

The headers of TARGET are those of SOURCE with WYE_ABI_MINOR one higher, and with, in each place where a minor may append, a member, a
slot, a flag, a kind, a fact or a number more. With --draft the minor is in development. Exit status: 0, or 1 if a header has a
structure that this script does not know how to grow. TARGET may be there from an earlier run.
"""
import argparse
import os
import pathlib
import re
import sys

# Structures without a header: elements of arrays and of unions, which have room of their own or never grow.
ROOM = {'wye_slot': ('uint32_t reserved[3];', 'uint32_t later, later_too, reserved[1];'),
        'wye_binding': ('uint64_t reserved;', 'uint32_t later, reserved;'),
        'wye_dispatch_op': None, 'wye_copy_op': None, 'wye_fill_op': None, 'wye_transfer_op': None, 'wye_execute_op': None}
FIXED = {'wye_string', 'wye_bytes', 'wye_header', 'wye_edge', 'wye_event', 'wye_operation', 'wye_native_value', 'wye_named_entry'}
STRUCTURE = re.compile(r'typedef struct (wye_\w+) \{\n(.*?)\n\} \1;', re.S)
ENUM = re.compile(r'enum (wye_\w+) \{(.*?)\n?\};', re.S)


def grow_structure(match):
    name, body = match.group(1), match.group(2)
    if name in FIXED:
        return match.group(0)
    if name in ROOM:
        if ROOM[name]:
            old, new = ROOM[name]
            if old not in body:
                raise SystemExit(f'future.py: {name} has no `{old}` left. Fix: say in this script where it grows now')
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
    if not values or name in ('wye_fact_key', 'wye_status_code'):  # made of lists
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


def grow(text, draft):
    text = re.sub(r'(#define WYE_ABI_MINOR )(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), text)
    if draft:
        text = re.sub(r'(#define WYE_ABI_MINOR_DRAFT )\d+', rf'\g<1>{draft}', text)
    else:
        text = re.sub(r'(#define WYE_ABI_MINOR_FROZEN )(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), text)
        text = re.sub(r'(#define WYE_ABI_MINOR_DRAFT )\d+', r'\g<1>0', text)
    text = STRUCTURE.sub(grow_structure, text)
    text = ENUM.sub(grow_enum, text)
    text = re.sub(r'(    /\* limits \*/ )', r'    X(LATER, 0x0ff, "later", BOOL) \\\n\1', text, count=1)
    # The last row of the statuses has no backslash; its number is one below the first free one.
    free = re.search(r'WYE_STATUS_FIRST_FREE = (\d+)', text)
    if free:
        row = re.compile(rf'(    X\(\w+, {int(free.group(1)) - 1}, "[^"]*"\))$', re.M)
        text, found = row.subn(rf'\1 \\\n    X(LATER, {free.group(1)}, "later")', text)
        if not found:
            raise SystemExit('future.py: the last status was not found. Fix: say in this script where statuses end')
    return text


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

    link('.', {'plugin-abi', *(name for name in os.listdir(source) if name.startswith('build') or name == '.git')})
    link('plugin-abi', {'include'})
    link('plugin-abi/include', {'wye'})
    link('plugin-abi/include/wye', {path.name for path in (source / 'plugin-abi/include/wye').glob('abi*.h')})
    for header in (source / 'plugin-abi/include/wye').glob('abi*.h'):
        text = grow(header.read_text(encoding='utf-8'), given.draft)
        grown = target / 'plugin-abi/include/wye' / header.name
        if not grown.exists() or grown.read_text(encoding='utf-8') != text:  # else what was built of it stays valid
            grown.write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
