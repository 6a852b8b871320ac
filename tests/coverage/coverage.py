#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many of the product's lines the tests have run, from gcov's data. Not part of a test run.

usage: coverage.py BUILD [--save FILE] [--compare FILE] [--list FOLDER]

BUILD is a build by gcc with coverage, of which tests have run:
  CC=gcc CXX=g++ meson setup build-coverage -Db_coverage=true --optimization=0 -Dtogether=true -Dunity=on -Dunity_size=100
  meson test -C build-coverage
--save writes to FILE which lines ran. --compare also prints the change since the run that saved FILE; the status is 1 if
the share of all lines fell by more than 0.3 points. --list prints the lines of a folder that did not run. To begin anew, remove
the files *.gcda of the build.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('runtime', 'registry', 'plugins', 'plugin-abi', 'tools')
MAY_FALL = 0.3  # points


def lines_of(data):
    """(file, line, whether it ran) of one file of counts. A file that many objects include is in the data of each."""
    done = subprocess.run(['gcov', '--json-format', '--stdout', data.name], cwd=data.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    for text in done.stdout.splitlines():
        document = json.loads(text)
        where = pathlib.Path(document['current_working_directory'])
        for file in document['files']:
            path = pathlib.Path(os.path.normpath(where / file['file']))
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
                for line in file['lines']:
                    yield str(path.relative_to(ROOT)), line['line_number'], line['count'] > 0


def measure(build):
    """{file: {line: whether it ran}}, also of objects that no test has loaded."""
    found = {}
    notes = sorted(build.rglob('*.gcno'))
    if not notes:
        sys.exit(f'{build} has no coverage. Fix: meson setup {build} -Db_coverage=true, with gcc')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(lambda note: list(lines_of(note)), notes):
            for file, line, ran in lines:
                of_file = found.setdefault(file, {})
                of_file[line] = of_file.get(line, False) or ran
    return found


def share(ran, lines):
    return 100 * ran / lines if lines else 0.0


def table(found):
    """{folder: (lines that ran, lines)}. Each plugin and each part of the runtime is a folder of its own. `all`: the sum."""
    out = {'all': (0, 0)}
    for file, lines in found.items():
        parts = file.split('/')
        folder = '/'.join(parts[:2]) if parts[0] in ('runtime', 'plugins') and len(parts) > 2 else parts[0]
        for key in (folder, 'all'):
            ran, total = out.get(key, (0, 0))
            out[key] = ran + sum(lines.values()), total + len(lines)
    return out


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n\n')[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--save')
    parser.add_argument('--compare')
    parser.add_argument('--list')
    words = parser.parse_args()
    found = measure(words.build.resolve())
    now = table(found)
    before = {}
    if words.compare:
        with open(words.compare, encoding='utf-8') as file:
            saved = json.load(file)
        before = table({name: {int(line): ran for line, ran in lines.items()} for name, lines in saved.items()})
    for folder in sorted(now, key=lambda key: (key == 'all', key)):
        ran, lines = now[folder]
        was = f', {share(*now[folder]) - share(*before[folder]):+.2f} points' if folder in before else ''
        print(f'{folder:24} {ran:6} of {lines:6} lines, {share(ran, lines):5.1f} %{was}')
    if words.list:
        for name, lines in sorted(found.items()):
            for line, ran in sorted(lines.items()):
                if name.startswith(words.list) and not ran:
                    print(f'{name}:{line}')
    if words.save:
        with open(words.save, 'w', encoding='utf-8') as file:
            json.dump(found, file)
    if before and share(*now['all']) < share(*before['all']) - MAY_FALL:
        sys.exit(f'the share of all lines fell by more than {MAY_FALL} points. Fix: test what no longer runs (--list)')


main()
