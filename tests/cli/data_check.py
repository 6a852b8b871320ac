#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `wye run` reads and writes with NumPy: numbers, .npy, .csv, .png, tables, and files that are wrong.

usage: data_check.py WYE

Needs a Python with NumPy. A program that copies runs on the CPU for each type, so that the bytes that come out are those that
were read.
"""
import io
import itertools
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import numpy

wye = os.path.abspath(sys.argv[1])
failures, ran = [], 0
TYPES = {'f32': 'f4', 'f64': 'f8', 'f16': 'f2', 'i8': 'i1', 'i16': 'i2', 'i32': 'i4', 'i64': 'i8', 'u8': 'u1', 'u16': 'u2',
         'u32': 'u4', 'u64': 'u8'}


def check(what, good):
    if not good:
        failures.append(what)


def run(*words, data=b''):
    global ran
    ran += 1
    return subprocess.run([wye, 'run', '-d', 'cpu', *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=600, env={**os.environ, 'WYE_PLUGIN_PATH': '/nowhere', 'WYE_CACHE_SIZE': '0', 'COLUMNS': '80'})


def copier(kind):
    path = f'copy_{kind}.wye'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'wye 1; program copy; workgroup 64; input x: {kind}[]; output r: {kind}[len(x)]; grid elements len(x);\n'
                   'main { let i = global_id.x; if i < len(x) { r[i] = x[i]; } }\n')
    return path


def copied(kind, given, data=b''):
    """The bytes of the input `given`, which a program of this type has copied to its output."""
    done = run(copier(kind), '--in', f'x={given}', '--out', 'r=-', '-q', data=data)
    check(f'{kind} {given[:60]}: {done.stderr.decode()}', done.returncode == 0)
    return done.stdout


def refused(kind, given, part, *more, data=b''):
    done = run(copier(kind), '--in', f'x={given}', *(more or ('--out', 'r=never')), data=data)
    check(f'{kind} {given[:60]} {more}: status {done.returncode}, `{done.stderr.decode()}` without `{part}`',
          done.returncode == 2 and part in done.stderr.decode() and 'Fix: ' in done.stderr.decode() and not done.stdout
          and not os.path.exists('never'))


def splitmix(seed):
    while True:
        seed = (seed + 0x9e3779b97f4a7c15) % 2**64
        z = seed
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % 2**64
        z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
        yield z ^ z >> 31


def check_numbers():
    source = random.Random(7)
    for kind, numpy_kind in TYPES.items():
        wanted = numpy.frombuffer(source.randbytes(8 * 40), numpy_kind)
        floats = kind.startswith('f')
        given = ','.join('nan' if floats and numpy.isnan(one) else repr(one.item()) for one in wanted)
        got = numpy.frombuffer(copied(kind, given), numpy_kind)
        check(f'numbers of {kind}: {got} for {wanted}', numpy.array_equal(got, wanted, equal_nan=floats))
        check(f'ones of {kind}', copied(kind, '@ones(5)') == numpy.ones(5, numpy_kind).tobytes())
        check(f'zeros of {kind}', copied(kind, '@zeros(5)') == bytes(5 * numpy.dtype(numpy_kind).itemsize))
        check(f'range of {kind}', copied(kind, '@range(100)') == numpy.arange(100).astype(numpy_kind).tobytes())
        bits = {'f32': 24, 'f64': 53, 'f16': 11}.get(kind, 8 * numpy.dtype(numpy_kind).itemsize)
        numbers = [one >> 64 - bits for one in itertools.islice(splitmix(3), 50)]
        made = numpy.array(numbers, 'u8')
        made = made / 2.0**bits if floats else made
        check(f'random of {kind}', copied(kind, '@random(50, 3)') == made.astype(numpy_kind).tobytes())
    # Numbers at and near the middle between two f16 must be rounded as NumPy rounds them. NumPy has no bf16; a bf16 is the upper
    # half of an f32.
    halves = [str(one) for e in (-26, -24, -15, -14, 0, 10, 15) for one in (2.0**e, 2.0**e * (1 + 2.0**-11), 2.0**e * (1 + 3 * 2.0**-11),
                                                                           -2.0**e * (1 + 2.0**-11 + 2.0**-30))]
    check('rounding to f16', copied('f16', ','.join(halves)) == numpy.array(halves, 'f8').astype('f2').tobytes())
    upper = numpy.frombuffer(source.randbytes(400), 'u2') & 0xff7f
    values = (upper.astype('u4') << 16).view('f4')
    check('numbers of bf16', copied('bf16', ','.join(repr(one.item()) for one in values)) == upper.tobytes())
    check('ties of bf16', copied('bf16', '1.00390625,1.01171875,1.00390626') == struct.pack('<3H', 0x3f80, 0x3f82, 0x3f81))
    check('hexadecimal', copied('u32', '0xff,0XFFFFFFFF') == struct.pack('<2I', 255, 2**32 - 1))
    for given in ('1, -2 , 3', '1 -2 3', ' 1\t-2\n3 ', '1 ,-2  3'):
        check(f'blanks {given!r}', copied('i32', given) == struct.pack('<3i', 1, -2, 3))
    check('components', copied('f32x4', '1,2,3,4,5,6,7,8') == numpy.arange(1, 9).astype('f4').tobytes())
    for kind, given, part in (('u8', '1,256', '`256`, is not a u8 value: 0 to 255'), ('i8', '-129', '-128 to 127'),
                              ('u32', '1,-1', '`-1`'), ('u32', '1,2.5', '`2.5`'), ('f32', '1e39', 'not a f32'), ('f16', '1,65520', '65504'),
                              ('u32', '1,,2', 'number 2'), ('u32', '1,2,', 'number 3'), ('u32', '1 x', '`x`, is not a u32'),
                              ('f32', '1.0f', 'Fix: write 1.0, since'), ('f32', '2, 1.5F', 'Fix: write 1.5, since'),
                              ('u32', '0x10u', 'Fix: write 0x10, since'), ('u32', '1.0f', 'Fix: write numbers'), ('f32x4', '1,2,3', 'not a multiple of the 4'),
                              ('f32', '@rnage(3)', '@range'), ('f32', '@range[3]', 'write @range(3)'), ('f32', '@range(3', '`)`'), ('f32', '@range(x)', 'whole number'),
                              ('f32', '@range', 'no count'), ('f32', '@ones(1,2)', 'two numbers'), ('u8', '@range(300)', 'counts to 256'),
                              ('f32', '@zeros(18446744073709551615)', 'more than the')):
        refused(kind, given, part)
    fixed = 'fixed.wye'
    with open(fixed, 'w', encoding='utf-8') as file:
        file.write('wye 1; program fixed; workgroup 4; input x: u32[4]; output r: u32[4]; grid groups 1;\n'
                   'main { r[local_index] = x[local_index]; }\n')
    done = run(fixed, '--in', 'x=@range', '--out', 'r=-', '-q')
    check('a count that the program says', done.stdout == struct.pack('<4I', 0, 1, 2, 3))
    check('numbers above the count', run(fixed, '--in', 'x=1,2,3,4,5').returncode == 2)
    check('numbers below the count', b'16 bytes' in run(fixed, '--in', 'x=1,2,3').stderr)


def check_files():
    values = numpy.arange(24).reshape(2, 3, 4)
    for kind, numpy_kind in TYPES.items():
        array = values.astype(numpy_kind)
        numpy.save('a.npy', array)
        check(f'.npy of {kind}', copied(kind, 'a.npy') == array.tobytes())
        done = run(copier(kind), '--in', 'x=a.npy', '--out', 'r=b.npy', '--shape', 'r=4x6', '-q')
        check(f'.npy out of {kind}: {done.stderr}', done.returncode == 0 and numpy.array_equal(numpy.load('b.npy'), array.reshape(4, 6)))
        done = run(copier(kind), '--in', 'x=a.npy', '--out', 'r=b.csv', '--shape', 'r=4x6', '-q')
        check(f'.csv of {kind}: {done.stderr}',
              numpy.array_equal(numpy.loadtxt('b.csv', delimiter=',').astype(numpy_kind), array.reshape(4, 6)))
        check(f'.csv in {kind}', copied(kind, 'b.csv') == array.tobytes())
    check('vectors', copied('f32x4', 'a.npy' if numpy.save('a.npy', values.astype('f4')) is None else '') == values.astype('f4').tobytes())
    run(copier('f32x4'), '--in', 'x=a.npy', '--out', 'r=b.npy', '-q')
    check('vectors out', numpy.load('b.npy').shape == (6, 4))
    wild = numpy.frombuffer(random.Random(1).randbytes(4000), 'f4')
    wild = wild[~numpy.isnan(wild)]
    numpy.save('a.npy', wild)
    run(copier('f32'), '--in', 'x=a.npy', '--out', 'r=b.csv', '-q')
    check('.csv is exact', numpy.loadtxt('b.csv', dtype='f4').tobytes() == wild.tobytes())
    for heading in ('a,b\n', '\ufeff"width, in m",height\r\n', ',x\n', '\n_1 Länge\n'):
        with open('a.csv', 'w', encoding='utf-8', newline='') as file:
            file.write(heading + '1,2\r\n3 4\n')
        done = run(copier('f32'), '--in', 'x=a.csv', '--out', 'r=b.NPY', '-q')
        check(f'a heading {heading!r}: {done.stderr}', numpy.array_equal(numpy.load('b.NPY'), [1, 2, 3, 4]))
        check('an ending in capitals', copied('f32', 'b.NPY') == struct.pack('<4f', 1, 2, 3, 4))
    numpy.savetxt('a.txt', [[1, 2], [3, 4]])
    run(copier('f32'), '--in', 'x=a.txt', '--out', 'r=b.TXT', '--shape', 'r=2x2', '-q')
    check('numbers of a .txt', numpy.array_equal(numpy.loadtxt('b.TXT', delimiter=','), [[1, 2], [3, 4]]))
    half = numpy.arange(0x7c01, dtype='u2').view('f2')
    numpy.save('a.npy', half)
    run(copier('f16'), '--in', 'x=a.npy', '--out', 'r=b.csv', '-q')
    check('.csv of all f16', copied('f16', 'b.csv') == half.tobytes())
    check('standard input', copied('u8', '-', data=b'abc') == b'abc')
    numpy.save('version2.npy', numpy.zeros(3, 'f4'))
    for version in ((2, 0), (3, 0)):
        stream = io.BytesIO()
        numpy.lib.format.write_array(stream, wild, version=version)
        with open('a.npy', 'wb') as file:
            file.write(stream.getvalue())
        check(f'.npy {version}', copied('f32', 'a.npy') == wild.tobytes())
    state = 'wye 1; program keep; workgroup 4; input_output x: f32[]; grid elements len(x);\n' \
            'main { let i = global_id.x; if i < len(x) { x[i] = x[i] + 1.0; } }\n'
    with open('keep.wye', 'w', encoding='utf-8') as file:
        file.write(state)
    numpy.save('a.npy', values.astype('f4'))
    run('keep.wye', '--in', 'x=a.npy', '--out', 'x=a.npy', '-q')
    check('what goes in and comes out keeps its shape', numpy.array_equal(numpy.load('a.npy'), values + 1))


def header(text, version=1, length=None):
    size = len(text) if length is None else length
    return b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', size) + text


def check_wrong_files():
    good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
    body = struct.pack('<2f', 1, 2)
    replaced = lambda old, new: header(good.replace(old, new)) + body
    for content, part in (
            (b'', 'does not begin'), (b'\x93NUMPZ' + bytes(9), 'does not begin'), (b'\x93NUMPY\1', 'ends within'),
            (header(good, length=9999), 'ends within'), (header(good, 4) + body, 'version 4'), (header(good, 2, 2**32 - 1), 'has 4294967295'),
            (header(b'') + body, 'no dictionary'), (header(b'[]') + body, 'no dictionary'), (header(good + b'x') + body, 'goes on'),
            (replaced(b"'<f4'", b"[('a', '<f4')]"), '`descr`'), (replaced(b'<f4', b'>f4'), '`>f4`'), (replaced(b'<f4', b'|O'), '`|O`'),
            (replaced(b'<f4', b''), 'type ``'), (replaced(b'<f4', b'<f8'), "a.astype('<f4')"), (replaced(b'False', b'0'), '`fortran_order`'),
            (replaced(b'(2,)', b'(-2,)'), '`shape`'), (replaced(b'(2,)', b'(2)'), '`shape`'), (replaced(b'(2,)', b'2'), '`shape`'),
            (replaced(b'(2,)', b'(18446744073709551616,)'), '`shape`'), (replaced(b'(2,)', b'(4294967296, 4294967296)'), 'too many numbers'),
            (replaced(b'(2,)', b'(' + b'1,' * 100 + b')'), '`shape`'), (replaced(b'(2,)', b'(3,)'), '8 bytes behind'),
            (replaced(b'(2,)', b'(1,)'), '8 bytes behind'), (header(good) + body[:-1], '7 bytes behind'),
            (replaced(b"'shape'", b"'descr'"), 'comes twice'), (replaced(b", 'shape': (2,)", b''), 'lacks'), (replaced(b'descr', b'\x1b[2J'), 'unknown'),
            (header(good.replace(b'False', b'True').replace(b'(2,)', b'(2,1,3)')) + body * 3, 'column by column')):
        with open('wrong.npy', 'wb') as file:
            file.write(content)
        refused('f32', 'wrong.npy', part)
    whole = header(good) + body
    for cut in range(len(whole)):
        with open('wrong.npy', 'wb') as file:
            file.write(whole[:cut])
        refused('f32', 'wrong.npy', 'wrong.npy')
        if failures:
            break
    refused('bf16', 'version2.npy', 'raw bytes')
    refused('f32', 'absent.npy', 'absent.npy')
    for text, part in (('1,2\n3,x\n', 'line 2 of `wrong.csv`, `x`'), ('1\n\n2,\n', 'number 2 of line 3'), ('1e999\n', 'line 1'),
                       ('a\nb\n1\n', 'line 2 of `wrong.csv`, `b`'), ('a,1\n2,3\n', 'line 1'), ('nan,b\n', 'line 1'), ('a,b\n', 'and no numbers'),
                       (',\n', 'number 1 of line 1'), ('"1","2"\n3,4\n', 'line 1 of `wrong.csv`, `"1"`'),
                       ('1.0f\n', 'Fix: write 1.0, since')):
        with open('wrong.csv', 'w', encoding='utf-8') as file:
            file.write(text)
        refused('f32', 'wrong.csv', part)
    for more, part in ((('--out', 'r=never.png'), 'two'), (('--out', 'r=never', '--shape', 'r=3x5'), '3x5'), (('--show', 'q'), 'use one of: r'),
                       (('--out', 'r=never', '--shape', 'r=3y5'), 'ROWSxCOLUMNS'), (('--out', 'r=never', '--shape', 'x=16'), '--shape'),
                       (('--out', 'r=-', '--json'), 'standard output'), (('--out', 'r=-', '--show', 'r'), 'standard output'),
                       (('--json', '--show', 'r'), '--show'), (('--out', 'r=never', '--shape', 'r=4294967296x4294967296x16'), 'shape')):
        refused('f32', '@range(16)', part, *more)
    refused('i32', '@range(16)', 'no pixels', '--out', 'r=never.png', '--shape', 'r=4x4')
    refused('bf16', '@range(16)', 'NumPy', '--out', 'r=never.npy')
    check('a failed run leaves no file', not any(name.startswith('never') for name in os.listdir('.')))


def pixels_of(path):
    """Width, height, channels and rows of a PNG file of 8 bits without filters."""
    with open(path, 'rb') as file:
        data = file.read()
    check('the signature of .png', data[:8] == b'\x89PNG\r\n\x1a\n')
    at, chunks = 8, {}
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        check(f'the checksum of {kind}', zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0])
        chunks[kind] = chunks.get(kind, b'') + body
        at += 12 + size
    width, height, depth, colour = struct.unpack('>IIBB', chunks[b'IHDR'][:10])
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    rows = numpy.frombuffer(zlib.decompress(chunks[b'IDAT']), 'u1').reshape(height, 1 + width * channels)
    check('8 bits, no filter', depth == 8 and not rows[:, 0].any())
    return rows[:, 1:].reshape(height, width, channels)


def check_pictures():
    source = numpy.random.default_rng(5)
    for kind, lanes in (('u8', 1), ('u8x2', 2), ('u8x3', 3), ('u8x4', 4), ('u32', 4)):
        wanted = source.integers(0, 256, (201, 333, lanes)).astype('u1')
        wanted.tofile('pixels')
        done = run(copier(kind), '--in', 'x=pixels', '--out', 'r=a.Png', '--shape', 'r=201x333', '-q')
        check(f'.png of {kind}: {done.stderr}', done.returncode == 0 and numpy.array_equal(pixels_of('a.Png'), wanted))
    for kind, lanes in (('f32', 1), ('f64', 1), ('f16', 1), ('f32x3', 3)):
        values = source.uniform(-0.5, 1.5, (7, 5, lanes)).astype(TYPES[kind.split('x')[0]])
        values.flat[0], values.flat[1] = float('nan'), float('inf')
        values.tofile('pixels')
        done = run(copier(kind), '--in', 'x=pixels', '--out', 'r=a.png', '--shape', 'r=7x5', '-q')
        wanted = numpy.floor(numpy.clip(numpy.nan_to_num(values.astype('f8'), nan=0, posinf=1), 0, 1) * 255 + 0.5)
        check(f'.png of {kind}: {done.stderr}', numpy.array_equal(pixels_of('a.png'), wanted))


def check_tables():
    def shown(*words):
        return run(*words, '-q').stdout.decode()

    check('a short table', shown(copier('u32'), '--in', 'x=1,20,300', '--show', 'r') == 'r: u32[3], 12 bytes\n  [0]  1  20  300\n')
    long = shown(copier('f32'), '--in', 'x=@range(100000)', '--show', 'r')
    lines = long.splitlines()
    check(f'a long table:\n{long}', lines[0] == 'r: f32[100000], 400000 bytes' and lines[-2] == '  ...' and lines[-1].endswith(' 99999')
          and len(lines) == 11 and max(map(len, lines)) <= 80)
    wide = shown(copier('f64'), '--in', 'x=@random(2000)', '--shape', 'r=2x1000', '--show', 'r').splitlines()
    check(f'a wide table: {wide}', len(wide) == 3 and all(line.endswith('  ...') and len(line) <= 80 for line in wide[1:])
          and wide[2].startswith('  [1000]'))
    check('a vector', '(1 2)  (3 4)' in shown(copier('f32x2'), '--in', 'x=1,2,3,4', '--show', 'r'))
    check('nothing without --show in a pipe', shown(copier('u32'), '--in', 'x=1') == '')
    check('an empty one', shown(copier('u32'), '--in', 'x=@zeros(0)', '--show', 'r') == 'r: u32[0], 0 bytes\n')
    terminal = subprocess.run(['script', '-qec', f"'{wye}' run {copier('u32')} -d cpu --in x=7,8", '/dev/null'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=False, timeout=600).stdout.decode()
    check(f'a terminal: {terminal}', '  [0]  7  8' in terminal)


def check_progress():
    """A run of more than two seconds shows its progress, but only on a terminal."""
    with open('long.wye', 'w', encoding='utf-8') as file:
        file.write('wye 1; program long; workgroup 1; output r: u32[1]; grid groups 1;\n'
                   'main { var n = 1u; for i in 0u..100000u { n = n * 1664525u + 1013904223u; } r[0] = n; }\n')
    ours, theirs = os.openpty()
    with subprocess.Popen([wye, 'run', 'long.wye', '-d', 'cpu', '--repeat', '4294967295'], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, 'TERM': 'xterm'}) as running:
        os.close(theirs)
        shown = ''
        while not shown.endswith(' left'):  # a rate is known after the first repetition
            shown += os.read(ours, 4096).decode()
        running.kill()
    os.close(ours)
    check(f'lines about a long run: {shown}',
          re.fullmatch(r'(\r\x1b\[K\d+ of 4294967295 repetitions(, [\d.]+/s, \d+ (s|min|h) left)?)+', shown))
    with subprocess.Popen([wye, 'run', 'long.wye', '-d', 'cpu', '--repeat', '4294967295'], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, 'TERM': 'xterm'}) as running:
        time.sleep(3)
        running.terminate()
        check('no such line in a pipe', running.stderr.read() == b'')


def check_persistent():
    with open('sum.wye', 'w', encoding='utf-8') as file:
        file.write('wye 1; program sum; workgroup 64; input x: u32[]; persistent sum: u32[len(x)]; output r: u32[len(x)];\n'
                   'grid elements len(x);\n'
                   'main { let i = global_id.x; if i < len(x) { sum[i] = sum[i] + x[i]; r[i] = r[i] + sum[i]; } }\n')
    numpy.save('sum.npy', numpy.array([100, 200, 300], 'u4'))
    for more in ((), ('--graph',)):
        done = run('sum.wye', '--in', 'x=1,2,3', '--in', 'sum=sum.npy', '--repeat', '5', *more, '--out', 'sum=after.npy', '--out', 'r=-', '-q')
        check(f'a state that goes on: {done.stderr}', numpy.array_equal(numpy.load('after.npy'), [105, 210, 315])
              and done.stdout == numpy.array([105, 210, 315], 'u4').tobytes())
    done = run('sum.wye', '--in', 'x=1,2,3', '--show', 'sum', '-q')
    check('a state begins at zero', b'  [0]  1  2  3\n' in done.stdout)
    done = run('sum.wye', '--in', 'x=1,2,3', '--in', 'sum=1,2')
    check(f'a state of a wrong size: {done.stderr}', done.returncode == 2 and b'`sum` takes 12 bytes' in done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (check_numbers, check_files, check_wrong_files, check_pictures, check_tables, check_persistent, check_progress):
        part()
    os.chdir('/')
print('\n'.join(failures) or f'{ran} runs, as NumPy has it')
sys.exit(1 if failures or ran < 200 else 0)
