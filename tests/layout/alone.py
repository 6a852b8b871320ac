#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file of the product compiles alone. Builds of tests compile several files together, which hides an include that one of
them lacks. A run tries a part of the files, and all that differ from the previous commit.

usage: alone.py BUILD
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from slices import of_this_run  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('runtime', 'registry', 'plugins', 'plugin-abi', 'tools')
PARTS = 48
LEFT_OUT = re.compile(r'^(-o|-MF|-MQ|-MD|-c|-O.|-g.?)$')


def commands(build):
    """{source: the words that compile it alone}, for sources that are compiled with others."""
    found = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        pieces = pathlib.Path(entry['directory'], entry['file'])
        if not re.search(r'-unity\d+\.', pieces.name):
            continue
        words = []
        given = iter(shlex.split(entry['command']))
        for word in given:
            if word in ('-o', '-MF', '-MQ', '-c'):
                next(given)
            elif not LEFT_OUT.match(word):
                words.append(word)
        for name in re.findall(r'^#include *<(.*)>$', pieces.read_text(), re.M):
            source = pathlib.Path(os.path.normpath(name))
            if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in FOLDERS:
                found.setdefault(str(source.relative_to(ROOT)), (words, entry['directory']))
    return found


def changed():
    """The files that differ from the commit before. Outside of a clone, there are none."""
    done = subprocess.run(['git', '-C', ROOT, 'diff', '--name-only', 'HEAD~1'], capture_output=True, text=True, check=False)
    return set(done.stdout.split('\n'))


def compiled(source, words, folder):
    # Without ccache, which keeps no results of -fsyntax-only.
    words = words[1:] if os.path.basename(words[0]) == 'ccache' else words
    done = subprocess.run([*words, '-fsyntax-only', ROOT / source], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return True
    print(f'{source} does not compile alone. Fix: include what it uses\n{done.stderr}')
    return False


def main():
    found = commands(pathlib.Path(sys.argv[1]))
    if not found:
        print('1 passed, 0 failed')  # this build compiles each file alone anyway
        return 0
    tried = sorted({*sorted(found)[of_this_run('sources compiled alone', PARTS)], *(changed() & found.keys())})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failed = list(pool.map(lambda s: compiled(s, *found[s]), tried)).count(False)
    print(f'{len(tried) - failed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
