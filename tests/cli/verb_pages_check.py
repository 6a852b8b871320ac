#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the verbs' pages, and compares the pages with what `wye help VERB` prints.

usage: verb_pages_check.py WYE PROGRAM MANUAL...

Each MANUAL is wye-VERB.1. Examples are the blocks of code under EXAMPLES. A line that begins with "$ " is a command, and the
lines after it are all that it prints, on standard output and standard error. `...` stands for any text, and alone on a line for
any lines. A last line "[exit status N]" states a status that is not 0. The examples of a page run one after the other in a folder
that has PROGRAM, saxpy.wye, and three small files.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

wye, program, *manuals = map(os.path.abspath, sys.argv[1:])
failures, ran = [], 0


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600, **more)


def examples(text):
    """(command, lines of output, status) of each example of a page as Markdown."""
    part = text.split('\n## Examples\n')[-1].split('\n## ')[0] if '\n## Examples\n' in text else ''
    for block in re.findall(r'(?:^(?:    .*)?\n)+', part, re.M):
        lines = [line[4:] for line in block.splitlines()]
        starts = [at for at, line in enumerate(lines) if line.startswith('$ ')] + [len(lines)]
        for begin, end in zip(starts, starts[1:]):
            output, status = lines[begin + 1:end], 0
            while output and not output[-1]:
                output.pop()
            if output and (match := re.fullmatch(r'\[exit status (\d+)\]', output[-1])):
                status = int(match[1])
                output.pop()
            yield lines[begin][2:], output, status


def pattern_of(lines):
    return ''.join(r'(?:.*\n)*?' if line == '...' else '.*'.join(map(re.escape, line.split('...'))) + r'\n' for line in lines)


def check_examples(name, text, folder):
    """The commands of a page run in one shell, so that a variable keeps its value for later commands."""
    global ran
    found = list(examples(text))
    if not found:
        failures.append(f'{name}: the page has no example')
    mark = 'end-of-example'
    script = ''.join(f'{command}\necho {mark} $?\n' for command, _, _ in found)
    tools = os.path.join(folder, 'bin')
    os.makedirs(tools, exist_ok=True)
    if not os.path.lexists(os.path.join(tools, 'wye')):
        os.symlink(wye, os.path.join(tools, 'wye'))
    environment = {**os.environ, 'PATH': f'{tools}:{os.environ["PATH"]}', 'LC_ALL': 'C.UTF-8', 'COLUMNS': '80',
                   'WYE_CACHE_DIR': os.path.join(folder, 'cache-of-the-test')}
    printed = run(['bash', '-c', script], cwd=folder, env=environment).stdout
    outputs = re.split(rf'^{mark} (\d+)\n', printed, flags=re.M)
    for (command, lines, status), output, got in zip(found, outputs[::2], outputs[1::2]):
        ran += 1
        if int(got) != status or not re.fullmatch(pattern_of(lines), output):
            failures.append(f'{name}: `{command}` exits with {got} and prints\n{output}the page says {status} and\n' + '\n'.join(lines))


def words_of(text):
    return text.replace('`', '').split()


def check_text(name, manual):
    """`wye help VERB` and the manual page have the same words in the same order."""
    helped = run([wye, 'help', name])
    if helped.returncode != 0:
        failures.append(f'wye help {name}: {helped.stdout}')
    shown = run(['groff', '-t', '-man', '-Tascii', '-P-cbou', '-rHY=0', manual]).stdout.splitlines()
    shown = [line for line in shown if not re.match(r' *WYE-[A-Z-]+\(1\)', line)]  # the page's header and footer
    both = [words_of('\n'.join(shown)), words_of(helped.stdout)]
    for ours, theirs in zip(*both):
        if ours != theirs:
            failures.append(f'wye help {name}: `{theirs}`, where the manual page has `{ours}`')
            return
    if abs(len(both[0]) - len(both[1])) > 1 or len(both[1]) < 50:
        failures.append(f'wye help {name} has {len(both[1])} words, the manual page {len(both[0])}')


for manual in manuals:
    verb = os.path.basename(manual)[len('wye-'):-len('.1')]
    markdown = run([wye, 'help', '--markdown', verb]).stdout
    for heading in ('Synopsis', 'Description', 'Exit status', 'Examples', 'See also'):
        if f'\n## {heading}\n' not in markdown:
            failures.append(f'the page of {verb} has no section {heading}')
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(program, place)
        for file, values in (('x.f32', (1, 2)), ('y.f32', (0.5, 0))):
            with open(os.path.join(place, file), 'wb') as target:
                target.write(struct.pack('<2f', *values))
        check_examples(verb, markdown, place)
    if shutil.which('groff'):
        check_text(verb, manual)
for words, status, part in ((['help'], 0, 'Subcommands'), (['help', 'info', 'diff'], 0, 'wye-info'), (['help', 'rum'], 2, '`run`'),
                            (['help', 'info', 'dif'], 2, '`diff`')):
    done = run([wye, *words])
    if done.returncode != status or part not in done.stdout:
        failures.append(f'wye {" ".join(words)}: status {done.returncode}\n{done.stdout}')
print('\n'.join(failures) or f'{len(manuals)} pages, {ran} examples')
sys.exit(1 if failures or ran < 20 else 0)
