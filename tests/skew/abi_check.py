#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the ABIs of libwye.so and of the plugin headers with the stored ones, by abigail-tools, or stores them.

usage: abi_check.py check|update LIBRARY CC...

LIBRARY is libwye.so with debugging data; CC compiles an object that uses each structure and enumeration of the plugin headers.
Only what the public headers declare counts. New functions are compatible. Everything else has to be reviewed, even new members at
the end of a structure, since abidiff does not know that Wye's structures carry their size. Exit status: 0 same or compatible,
1 changed, 2 wrong usage.
"""
import contextlib
import io
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDERS = [ROOT / 'runtime/include', ROOT / 'plugin-abi/include']
NO_PLACES = ['--no-corpus-path', '--no-comp-dir-path', '--no-show-locs']


def headers(option):
    return [word for folder in FOLDERS for word in (option, str(folder))]


def plugin_library(compiler, folder, work):
    """A library whose one variable has a pointer to each structure and enumeration of the plugin headers in a folder."""
    names = sorted(path.name for path in (folder / 'wye').glob('*.h'))
    text = ''.join((folder / 'wye' / name).read_text(encoding='utf-8') for name in names)
    types = re.findall(r'^typedef struct (\w+) \{', text, re.M) + [f'enum {name}' for name in re.findall(r'^enum (\w+) \{', text, re.M)]
    if len(types) < 50:
        sys.exit(f'only {len(types)} types were found in {", ".join(names)}. Fix: correct how abi_check.py finds them')
    source = ''.join(f'#include "wye/{name}"\n' for name in names)
    source += 'struct everything {\n' + ''.join(f'    {name} *m{at};\n' for at, name in enumerate(types)) + '} everything;\n'
    (work / 'plugin.c').write_text(source, encoding='utf-8')
    library = work / 'plugin.so'
    subprocess.run([*compiler, '-std=c11', '-g', '-shared', '-fPIC', f'-I{folder}', str(work / 'plugin.c'), '-o', str(library)],
                   check=True)
    return library


def written(library, private):
    """The ABI of a library as abidw writes it."""
    dropped = ['--exported-interfaces-only', '--drop-private-types', *headers('--headers-dir')] if private else []
    return subprocess.run(['abidw', *dropped, *NO_PLACES, str(library)], stdout=subprocess.PIPE, check=True).stdout


def store(text, place):
    temporary = place.with_suffix('.new')
    temporary.write_bytes(lzma.compress(text, preset=9))
    temporary.rename(place)
    print(f'stored {place.relative_to(ROOT)}')


def compatible(text, place, work):
    """Whether new functions are the only difference."""
    if not place.exists():
        print(f'{place.relative_to(ROOT)} is missing')
        return False
    stored, now = work / 'stored.abi', work / 'now.abi'
    stored.write_bytes(lzma.decompress(place.read_bytes()))
    now.write_bytes(text)
    done = subprocess.run(['abidiff', '--no-added-syms', str(stored), str(now)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f'{place.name}: ' + ('the same' if done.returncode == 0 else f'abidiff says {done.returncode}\n{done.stdout}'))
    return done.returncode == 0


def finds_a_change(compiler, work):
    """Whether the comparison reports the removal of a member as incompatible."""
    shutil.copytree(FOLDERS[1], work / 'changed')
    header = work / 'changed/wye/abi.h'
    text = header.read_text(encoding='utf-8')
    header.write_text(text.replace('    uint64_t elements;\n', '', 1), encoding='utf-8')
    library = plugin_library(compiler, work / 'changed', work)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        good = compatible(written(library, False), HERE / 'plugin.abi.xz', work)
    return not good and 'wye_binding' in said.getvalue()


def main(words):
    if len(words) < 3 or words[0] not in ('check', 'update'):
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    if not shutil.which('abidw') or not shutil.which('abidiff'):
        print('abidw and abidiff are not installed. Fix: run tools/setup (Debian package: abigail-tools)')
        return 1
    with tempfile.TemporaryDirectory(prefix='wye-abi.') as name:
        work = pathlib.Path(name)
        pairs = [(pathlib.Path(words[1]), HERE / 'libwye.abi.xz', True),
                 (plugin_library(words[2:], FOLDERS[1], work), HERE / 'plugin.abi.xz', False)]
        texts = [(written(library, private), place) for library, place, private in pairs]
        if words[0] == 'update':
            for text, place in texts:
                store(text, place)
            return 0
        good = [compatible(text, place, work) for text, place in texts]
        if not all(good):
            print('Fix: keep the ABI as it is. If a change was reviewed (plugin-abi/README.md, "What a reviewer asks"), run\n'
                  '`meson compile -C build update-abi` and commit tests/skew/*.abi.xz with it')
            return 1
        if not finds_a_change(words[2:], work):
            print('a member of wye_binding was removed, and abidiff does not see it. Fix: correct abi_check.py')
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
