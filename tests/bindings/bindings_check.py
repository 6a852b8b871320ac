#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bindings of the plugin headers by a language's own generator, and opens two plugins through them: the template, which has no
device, and one with a device. The bindings must return the plugins' known answers, and the numbers of abi.lock: each constant, and
the size of each structure.

usage: bindings_check.py rust INCLUDE LOCK NULL VENDOR BINDGEN RUSTC
       bindings_check.py go INCLUDE LOCK NULL VENDOR GO
       bindings_check.py python INCLUDE LOCK NULL VENDOR PYTHON CC...
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Status 8 is WYE_UNSUPPORTED. The device takes buffers of usage DEVICE, and refuses REGISTERED.
ANSWERS = """null 0.1.0 of Wye, ABI 1.{minor}, 64 bits: 0 0, 0 devices
device 0: 8: the null plugin has no devices; Fix: choose a device of another plugin
1 errors made, 1 released
vendor 1.0.0 of Vendor, ABI 1.{minor}, 64 bits: 0 0, 1 devices
device 0: 8: there is no memory here of usage 5; Fix: leave it out, or choose another device
device 0: Fixed function, wye-program, a buffer: true
1 errors made, 1 released
"""


def numbers_of(lock):
    """Constants and sizes of structures in the part of the lock that is of abi*.h, by name."""
    parts = re.split(r'^header (\S+)\n', lock, flags=re.M)
    text = ''.join(part for name, part in zip(parts[1::2], parts[2::2]) if name.startswith('wye/abi'))
    return {name: int(value) for name, value in re.findall(r'^(?: *|struct )(\w+)(?: = |: size )(\d+)\b', text, re.M)}


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f'{command[0]} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}')
    return done.stdout


def rust(folder, include, names, plugins, bindgen, rustc):
    run(bindgen, folder / 'all.h', '--no-prepend-enum-name', '--no-layout-tests', '--allowlist-type', 'wye_.*', '--allowlist-var',
        'WYE_.*', '-o', folder / 'abi.rs', '--', f'-I{include}')
    lines = [f'    println!("{name} {{}}", ' + (f'{name} as u64' if name[0] == 'W' else f'size_of::<{name}>()') + ');' for name in names]
    (folder / 'numbers.rs').write_text('fn print_numbers() {\n' + '\n'.join(lines) + '\n}\n', encoding='utf-8')
    (folder / 'open.rs').write_bytes((HERE / 'open.rs').read_bytes())
    run(rustc, '--edition', '2021', '-D', 'warnings', '-o', folder / 'open', folder / 'open.rs')
    return run(folder / 'open', *plugins)


def go(folder, include, names, plugins, tool):
    lines = [f'\tfmt.Println("{name}", uint64(C.{name if name[0] == "W" else "sizeof_" + name}))' for name in names]
    (folder / 'numbers.go').write_text('package main\n\n// #include "all.h"\nimport "C"\nimport "fmt"\n\nfunc printNumbers() {\n'
                                       + '\n'.join(lines) + '\n}\n', encoding='utf-8')
    (folder / 'open.go').write_bytes((HERE / 'open.go').read_bytes())
    settings = {'GO111MODULE': 'off', 'GOFLAGS': '', 'GOPROXY': 'off', 'GOCACHE': str(folder / 'cache'), 'GOPATH': str(folder / 'path'),
                'CGO_ENABLED': '1', 'CGO_CFLAGS': f"-O1 '-I{include}' '-I{folder}'"}
    run(tool, 'build', '-o', 'open', 'open.go', 'numbers.go', cwd=folder, env=os.environ | settings)
    return run(folder / 'open', *plugins)


def python(folder, include, names, plugins, interpreter, *compiler):
    # Keeps what cffi needs and can read: the text of the headers of the ABI, and macros that are plain numbers.
    text, own = [], False
    for line in run(*compiler, '-E', f'-I{include}', folder / 'all.h').splitlines():
        if line.startswith('# '):
            own = '/wye/abi' in line
        elif own:
            text.append(line)
    macros = run(*compiler, '-E', '-dM', f'-I{include}', folder / 'all.h')
    text += re.findall(r'^#define WYE_\w+ (?:0x[0-9a-f]+|\d+)u?$', macros, re.M)
    text.append('wye_status wye_plugin_query_1(const wye_hello*, const wye_plugin_desc**);')
    (folder / 'declarations').write_text('\n'.join(text), encoding='utf-8')
    (folder / 'names').write_text('\n'.join(names), encoding='utf-8')
    return run(interpreter, '-B', HERE / 'open.py', folder / 'declarations', folder / 'names', *plugins)


def main():
    language, include, lock, *plugins = sys.argv[1:6]
    include = pathlib.Path(include).resolve()
    numbers = numbers_of(pathlib.Path(lock).read_text(encoding='utf-8'))
    if len(numbers) < 250 or {'WYE_OK', 'WYE_WHOLE_SLOT', 'wye_operation'} - numbers.keys():
        sys.exit(f'only {len(numbers)} numbers were found in abi.lock. Fix: correct how they are found')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'all.h').write_text(''.join(f'#include "wye/{path.name}"\n' for path in sorted((include / 'wye').glob('abi*.h'))),
                                      encoding='utf-8')
        out = {'rust': rust, 'go': go, 'python': python}[language](folder, include, list(numbers), plugins, *sys.argv[6:])
    wanted = ANSWERS.format(minor=numbers['WYE_ABI_MINOR'])
    wanted += ''.join(f'{name} {value}\n' for name, value in numbers.items())
    wrong = 0
    got = out.splitlines()
    for at, line in enumerate(wanted.splitlines()):
        if at >= len(got) or got[at] != line:
            wrong += 1
            print(f'{language}: `{got[at] if at < len(got) else "nothing"}` in place of `{line}`')
    print(f'{language}: {len(got)} lines, {len(numbers)} of them numbers of abi.lock, {wrong} wrong')
    return 1 if wrong or len(got) != len(wanted.splitlines()) else 0


if __name__ == '__main__':
    sys.exit(main())
