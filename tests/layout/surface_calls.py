#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that runtime/SURFACE.md names, and fails if a test does not enter the functions of its row.

usage: surface_calls.py BUILD

If a row names a structure or a member, the test must enter a function that takes the structure; for a flag, any function is enough.
A test runs under ptrace(2), with a breakpoint at each function of the C API until its first hit, so the library needs no code for
this. Rows whose tests call parts of the library, or run a program, are left out (APART). A run takes one slice of the rows
(WYE_TEST_SLICE).
"""
import collections
import ctypes
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys

import surface

sys.path.append(str(surface.ROOT / 'tests/support'))
import slices

build = pathlib.Path(sys.argv[1]).resolve()
APART = ('tests/unit/plan/', 'tests/unit/lower/', 'tests/cli/')
LIMIT = 300  # seconds for one test case

TRACEME, PEEKUSER, POKEUSER, CONT, DETACH, SETOPTIONS, GETEVENTMSG = 0, 3, 6, 7, 17, 0x4200, 0x4201
FORK, VFORK, CLONE, EXIT_KILLS = 2, 4, 8, 0x100000  # options
FORKED, VFORKED, CLONED = 1, 2, 3  # events
RIP = 16 * 8  # in the structure `user` of x86-64
ALL_THREADS = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, process, address=0, data=0):
    ctypes.set_errno(0)
    out = libc.ptrace(request, process, address, data)
    if out == -1 and ctypes.get_errno() not in (0, 3):  # ESRCH: the process has ended
        raise OSError(ctypes.get_errno(), f'ptrace({request})')
    return out


def symbols(path, dynamic):
    """The API's functions of a program or library, with their addresses."""
    words = ['nm', '--defined-only', *(['-D'] if dynamic else []), str(path)]
    for line in subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        name = name.partition('@')[0]
        if kind == 'T' and (re.fullmatch('wye_[a-z0-9_]+', name) or name == 'main'):
            yield name, int(address, 16)


class Traced:
    """A process in which functions are noted when they are entered."""

    def __init__(self, command, env, output):
        self.entered, self.armed, self.known = set(), {}, {}
        self.process = os.fork()
        if self.process == 0:
            os.dup2(output, 1)
            os.dup2(output, 2)
            ptrace(TRACEME, 0)
            os.execvpe(command[0], command, env)
        os.waitpid(self.process, 0)
        ptrace(SETOPTIONS, self.process, 0, FORK | VFORK | CLONE | EXIT_KILLS)
        self.memory = open(f'/proc/{self.process}/mem', 'r+b', buffering=0)
        own = dict(symbols(command[0], False))
        self.arm(command[0], own)
        if not any(name.startswith('wye_') for name in own):
            self.library = next(build.glob('runtime/libwye.so.*.*.*'))
        else:
            self.library = None

    def base(self, path):
        with open(f'/proc/{self.process}/maps', encoding='utf-8') as maps:
            for line in maps:
                if line.rstrip().endswith(os.path.realpath(path)):
                    return int(line.partition('-')[0], 16)
        return None

    def arm(self, path, functions):
        base = self.base(path)
        for name, address in functions.items():
            self.memory.seek(base + address)
            self.armed[base + address] = self.memory.read(1)
            self.known[base + address] = name
            self.write(base + address, b'\xcc')

    def write(self, address, byte):
        self.memory.seek(address)
        self.memory.write(byte)

    def hit(self, task):
        """Whether a task stopped at a breakpoint. Removes the breakpoint."""
        at = ptrace(PEEKUSER, task, RIP) - 1
        if at not in self.known:
            return False
        if at in self.armed:
            self.write(at, self.armed.pop(at))
            if self.known[at] == 'main':
                if self.library:
                    self.arm(self.library, dict(symbols(self.library, True)))
            else:
                self.entered.add(self.known[at])
        ptrace(POKEUSER, task, RIP, at)
        return True

    def begin(self, child, how):
        """Lets a new task go on: a thread with the breakpoints, a process detached and without them."""
        if how == CLONED:
            ptrace(CONT, child)
            return
        if how == FORKED:  # a process made by vfork(2) shares this memory, and at once executes another program
            with open(f'/proc/{child}/mem', 'r+b', buffering=0) as memory:
                for at, byte in self.armed.items():
                    memory.seek(at)
                    memory.write(byte)
        ptrace(DETACH, child)

    def run(self):
        ptrace(CONT, self.process)
        tasks, expected, early = {self.process}, {}, set()  # a new task may stop before its parent reports it
        while True:
            task, status = os.waitpid(-1, ALL_THREADS)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                tasks.discard(task)
                if task == self.process:
                    self.memory.close()
                    return status
                continue
            if task not in tasks:
                how = expected.pop(task, None)
                if how is None:
                    early.add(task)
                    continue
                if how == CLONED:
                    tasks.add(task)
                self.begin(task, how)
                continue
            stop, event = os.WSTOPSIG(status), status >> 16
            if event in (FORKED, VFORKED, CLONED):
                message = ctypes.c_ulong()
                ptrace(GETEVENTMSG, task, 0, ctypes.addressof(message))
                child = message.value
                if child in early:
                    early.discard(child)
                    if event == CLONED:
                        tasks.add(child)
                    self.begin(child, event)
                else:
                    expected[child] = event
            told = 0 if event or stop == signal.SIGSTOP or (stop == signal.SIGTRAP and self.hit(task)) else stop
            ptrace(CONT, task, 0, told)


def takers():
    """The functions of the public headers, and those that take each structure, alone or as a part of another."""
    functions, out, parts_of = set(), collections.defaultdict(set), set()
    for header in surface.HEADERS:
        text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
        for name, arguments in re.findall(r'WYE_API\s[^;()]*?(wye_\w+)\(([^;]*)\);', text, flags=re.S):
            functions.add(name)
            for structure in re.findall(r'(wye_\w+)\s*\*', arguments):
                out[structure].add(name)
        for body, name in re.findall(r'typedef struct \w+ \{(.*?)\n\} (\w+);', text, flags=re.S):
            parts_of |= {(part, name) for part in re.findall(r'\b(wye_\w+)\b(?=[\s*]+\w)', body)}
    for _ in range(4):  # no structure is nested deeper
        for part, name in parts_of:
            out[part] |= out[name]
    return functions, out


def wanted(named, functions, taken_by):
    """For each name of a row: the functions, one of which must be entered."""
    for name in named:
        owner = name.partition('.')[0]
        if owner in functions:
            yield name, {owner}
        elif owner in taken_by:
            yield name, taken_by[owner]
        else:
            yield name, functions


def parts(sources):
    """The files of a program, also those that are compiled together."""
    for source in sources:
        yield source
        if '-unity' in source and os.path.exists(source):
            folder = os.path.dirname(source)
            yield from (os.path.normpath(os.path.join(folder, one))
                        for one in re.findall('#include *[<"](.*)[>"]', pathlib.Path(source).read_text()))


def programs():
    """For each source file: the command and environment of each test that contains it, tests on the CPU first."""
    sources = {}
    for target in json.loads((build / 'meson-info/intro-targets.json').read_text()):
        if target['type'] == 'executable':
            for group in target['target_sources']:
                for source in parts(group.get('sources', []) + group.get('generated_sources', [])):
                    sources.setdefault(source, []).append(target['filename'][0])
    out = {}
    tests = json.loads((build / 'meson-info/intro-tests.json').read_text())
    tests.sort(key=lambda test: not test['name'].endswith('_cpu'))
    for source, files in sources.items():
        # An executable with several tests runs one source file in each of them.
        words = [], ['-sf=*/' + os.path.basename(source)]
        out[source] = [(test['cmd'], test['env']) for test in tests if test['cmd'][0] in files and test['cmd'][1:] in words]
    return out


def entered_by(case, command, env):
    """The set of functions that a case enters, or a text that says what is wrong."""
    if not os.path.exists(command[0]):
        return f'{command[0]} was not built'
    signal.alarm(LIMIT)
    with open(build / 'surface_calls.txt', 'w+b') as output:
        traced = Traced([*command, '-tc=' + re.sub('[,*?\\\\]', '?', case), '-nb=true'], {**os.environ, **env}, output.fileno())
        status = traced.run()
        output.seek(0)
        text = output.read().decode(errors='replace')
    signal.alarm(0)
    if status != 0 or not re.search(r'test cases: +[1-9]', text):
        return f'"{case}" failed, or did not run, with the status {status:#x}:\n{text[-2000:]}'
    return traced.entered


def main():
    if platform.machine() != 'x86_64':
        print('this machine is no x86-64: nothing was run')
        return 0
    cases = collections.defaultdict(list)
    for number, named, path, case in surface.rows():
        if not path.startswith(APART):
            cases[path, case].append((number, named))
    part = slices.of_this_run('surface_calls', 8)
    (functions, taken_by), made, faults = takers(), programs(), []
    for (path, case), rows in sorted(cases.items())[part]:
        missing = [(number, name, any_of) for number, named in rows for name, any_of in wanted(named, functions, taken_by)]
        entered, programs_of = set(), made.get(str(surface.ROOT / path), [])
        if not programs_of:
            faults.append(f'{path}: no test has this file')
            continue
        for command, env in programs_of:  # several: on the CPU alone, a case for several devices does nothing
            new = entered_by(case, command, env)
            if isinstance(new, str):
                faults.append(f'{path}: {new}')
                break
            entered |= new
            missing = [(number, name, any_of) for number, name, any_of in missing if not any_of & entered]
            if not missing:
                break
        else:
            for number, name, _ in missing:
                faults.append(f'line {number}: "{case}" enters no function for `{name}`; it enters {", ".join(sorted(entered))}')
    print(f'{len(sorted(cases.items())[part])} of {len(cases)} cases ran')
    for fault in faults:
        print(f'{surface.TABLE.name}: {fault}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
