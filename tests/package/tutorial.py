#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell commands of the tutorial for plugins, in order, and compares their output with the tutorial's.

usage: tutorial.py PAGE FOLDER

The blocks marked `sh` run in one shell, in FOLDER, which must be empty. Each line of a block marked `text`
must be a line of the standard output of the block before it. Before the first block with a patch, the project is edited as earlier
steps suggest: lines are added, and most capabilities are no longer claimed. The conformance kit takes minutes, since it compiles
each program with `cc`. So it runs whole only before the patch, and only in one of four runs of this test (tests/support/slice.hpp).
After the patch, also in the project's CI, it runs the groups that the patch affects.
Exit status: 0 if all lines are there, else 1.
"""
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import slices

MARK = '@@ block '
EDITS = r"""
sed -i '/NATIVE_\|ATOMIC_F\|STORAGE/d; s/^#pragma once$/&\n\n\/\/ Ours.\n\n/' src/program.hpp
sed -i '1a //\n// Ours.' src/plugin.cpp
sed -i "s/'conform', '--quick'/&, '--only', 'file,load,device,program,launch'/" meson.build
"""
WHOLE = 'wye conform --quick build/wye_acme.so'
CHANGED = WHOLE.replace('--quick', '--quick --only file,load,device,program,launch')
SOME = WHOLE.replace('--quick', '--quick --only file,load,plugin,device,examples')


def main():
    page, folder = sys.argv[1:]
    with open(page, encoding='utf-8') as file:
        blocks = re.findall(r'^```(\w+)\n(.*?)^```$', file.read(), re.MULTILINE | re.DOTALL)
    commands = [text for kind, text in blocks if kind == 'sh']
    expected = {}
    number = -1
    for kind, text in blocks:
        number += kind == 'sh'
        if kind == 'text':
            expected[number] = text.splitlines()
    patched = next(k for k, text in enumerate(commands) if text.startswith('patch '))
    commands[patched] = EDITS.lstrip() + commands[patched]
    if slices.of_this_run('the kit on the tutorial\'s plugin', 4).start:
        commands[:patched] = [text.replace(WHOLE, SOME) for text in commands[:patched]]
    commands[patched:] = [text.replace(WHOLE, CHANGED) for text in commands[patched:]]
    script = 'set -eu\n' + ''.join(f"printf '\\n{MARK}{k}\\n'\n{text}" for k, text in enumerate(commands))
    ran = subprocess.run(['bash', '-c', script], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    outputs = [part.split('\n', 1)[1].splitlines() for part in ran.stdout.split('\n' + MARK)[1:]]
    if ran.returncode != 0:
        last = len(outputs) - 1
        print(f'exit status {ran.returncode}, in:\n{commands[last]}\nwith the output:')
        print('\n'.join(outputs[last][-60:]))
        return 1
    wrong = 0
    for k, lines in expected.items():
        for line in lines:
            if line not in outputs[k]:
                wrong += 1
                print(f'no line `{line}` from:\n{commands[k]}with the output:\n' + '\n'.join(outputs[k]))
    print(f'{len(commands)} blocks of commands, {sum(map(len, expected.values()))} lines of output, {wrong} wrong')
    return 1 if wrong or not expected else 0


if __name__ == '__main__':
    sys.exit(main())
