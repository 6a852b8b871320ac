#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the short examples on every device, and compares what they print with values computed here.

usage: short_examples_check.py WYE FOLDER SOURCES PYTHON LOSSY

FOLDER has the built examples, short_NAME for C++ and short_NAME_c for C. SOURCES has those in Python, which PYTHON
runs; if PYTHON is empty they are left out. LOSSY is an OpenCL loader that loses devices when it is preloaded; it is
empty if this build has no OpenCL.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

wye, folder, sources, python, lossy = sys.argv[1:]
failures, ran = [], 0


def run(command, more=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
                          env={**os.environ, **(more or {})})


def expect(command, pattern, more=None, messages=None):
    """The command succeeds, its output matches the pattern, and its standard error matches `messages`."""
    global ran
    ran += 1
    done = run(command, more)
    match = re.fullmatch(pattern, done.stdout)
    if done.returncode != 0 or match is None or not (messages is None or re.fullmatch(messages, done.stderr)):
        failures.append(f'{" ".join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}'
                        f'expected: {pattern}\non standard error: {messages}')
    return match


def forms(name, languages):
    """The commands of an example in each language."""
    yield [pathlib.Path(folder) / f'short_{name}']
    if 'c' in languages:
        yield [pathlib.Path(folder) / f'short_{name}_c']
    if 'py' in languages and python:
        yield [python, '-B', pathlib.Path(sources) / f'{name}.py']


def check(device, work):
    # Examples in C and Python call the same library, so they run only on the CPU.
    own = device.startswith('cpu')
    others = ['c', 'py'] if own else []
    chosen = re.escape(f'chosen: {device}, because: ') + r'[^\n]+\n((passed over|found): [^\n]+\n)*'
    for command in forms('choose_device', others) if own else []:
        expect([*command, device], chosen + r'(halves: 0\.5 1(\.0)? 1\.5 2(\.0)?\n)?')
    squares = sum(i * i for i in range(1, 1001))
    for command in forms('chain_kernels', others):
        expect([*command, device], rf'sum of squares: {squares}\n(bytes to and from the device for the second kernel: 0, 4\n)?')
    for command in forms('lost_device', ['c', 'py']):
        expect([*command, device], rf'doubled on {re.escape(device)}: 2 4 6\n', messages='')

    one = lambda name: pathlib.Path(folder) / f'short_{name}'
    expect([one('two_devices'), device, 'cpu'],
           f'500 cubes from {device}, 501 from cpu\nthe last ones: {499**3} and {1000**3}\n')
    ran_form = 'native variant 0' if device.startswith('opencl') else 'the portable body'
    bits = ' '.join(str(bin(x).count('1')) for x in (0, 1, 7, 0xff00ff00))
    expect([one('native_variant'), device], f'ran: {ran_form}\nbits: {bits}\n')

    def spun(v):
        for n in range(3):
            v = ((v ^ (v >> 7)) * 1664525 + n) % 2**32
        return v
    if own:  # on a driver's device it takes seconds until the device is free again
        expect([one('time_limit'), device], rf'timed out, and `r` was not written\nthree rounds: {spun(0)} {spun(63)}\n')

    errors = expect([one('error_budget'), device],
                    r'budget 0: largest error (\S+) ulp, native: none\nbudget 4: largest error (\S+) ulp, native: [^\n]+\n')
    if errors and (float(errors[1]) > 1 or float(errors[2]) > 4):
        failures.append(f'error_budget {device}: {errors[0]}')
    kept = range(0, 10000, 7)
    expect([one('compact'), device],
           f'kept {len(kept)} numbers, squared by {-(-len(kept) // 64)} workgroups: the sum is {sum(i * i for i in kept) % 2**32}\n')
    expect([one('graph'), device], ''.join(
        f'turn {t}: {" ".join(str((t + i) * 10 * t) for i in range(4))}\n' for t in (1, 2, 3)))

    # The file has several chunks. The size of the last one is not a multiple of a word.
    content, result = bytes(range(256)) * 10000 + b'end', work / 'out'
    (work / 'in').write_bytes(content)
    expect([one('stream_file'), work / 'in', result, device], '')
    if not result.exists() or result.read_bytes() != content.translate(bytes(255 - i for i in range(256))):
        failures.append(f'stream_file {device}: the file is not the inverted one')


def check_losses(device):
    """The first kernel of the process loses the device. The work runs on that device if it can be opened again, else on another."""
    said = r'lost: [^\n]*\(-9999\)[^\n]*\n'
    with tempfile.TemporaryDirectory(dir='/tmp') as links:  # LD_PRELOAD does not accept paths with blanks
        preload = f'{links}/lossy.so'
        os.symlink(pathlib.Path(lossy).resolve(), preload)
        for loss, where in (('once', re.escape(device)), ('always', rf'(?!{re.escape(device)})\S+')):
            for command in forms('lost_device', ['c', 'py']):
                expect([*command, device], rf'doubled on {where}: 2 4 6\n',
                       {'LD_PRELOAD': preload, 'LOSSY_OPENCL': loss}, rf'(?s){said}.*')


def main():
    devices = [line.split('\t')[0] for line in run([wye, 'info', '-l']).stdout.splitlines()]
    if not any(one.startswith('cpu') for one in devices):
        failures.append(f'there is no cpu among {devices}')
    with tempfile.TemporaryDirectory() as name:
        for device in devices:
            check(device, pathlib.Path(name))
    if lossy:
        found = [one for one in devices if one.startswith('opencl')]
        if not found:
            failures.append('no OpenCL device to lose. Fix: install an OpenCL driver, as pocl-opencl-icd')
        for device in found[:1]:
            check_losses(device)
    for command in forms('choose_device', ['c', 'py']):
        bad = run([*command, 'no such device'])
        if bad.returncode == 0 or 'Fix: ' not in bad.stderr:
            failures.append(f'{command}: a bad selector gives {bad.returncode}\n{bad.stderr}')
    for failure in failures:
        print('FAILED:', failure)
    print(f'{ran} runs on {", ".join(devices)}, {len(failures)} failures')
    return 1 if failures or not ran else 0


if __name__ == '__main__':
    sys.exit(main())
