#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs hosts, layers and plugins of different ages together: archived ones of this folder, those of a build, and future ones.

usage: skew_check.py ABI VERSION SHA256 OTHER_DRAFT KIT FUTURE APPLICATION LIBRARY PLUGIN...

ABI is MAJOR.DRAFT.MINOR of the build, VERSION the version of its plugins, SHA256 the program sha256.wye, OTHER_DRAFT a plugin of
another draft, KIT the kit wye-conform-abi. FUTURE is a folder that keeps builds of a later minor, whose sources future.py
makes. The other files are the build's: the application of this folder, libwye.so, the plugins null, cpu, vendor and
cpu_file, and the layers validate and trace. Sides that have a released minor in common run programs on each other's plugins, with
and without the layers of either, and the results are compared with arithmetic and a digest computed here. A host must refuse
plugins of the drafts of 1.0 by name. later_host.c sends plugins all that only a later minor has, and vendor_plugin.c reports it to
hosts. At the end, tables show which checks passed and which failed. The last line is "N passed, N failed".
"""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import slices

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE / 'samples'
READY, ABI_MISMATCH, BAD_MANIFEST = '1', '27', '29'
LIBRARIES = {'null': 'wye_null.so', 'cpu_file': 'cpu_file.so', 'vendor': 'wye_vendor.so'}
LAYERS = {'validate': 'wye_layer_validate.so', 'trace': 'wye_layer_trace.so'}
BUILT = {'skew_vendor.so': 'wye_vendor.so', 'skew_cpu_file.so': 'cpu_file.so'}  # file names in a build
passed = failed = 0


def check(good, what, detail=''):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f'FAILED: {what}\n{detail}')


class Matrix:
    """What was proven: tables of cells; a row offers something, and a column uses it."""

    def __init__(self):
        self.tables = {}

    @contextlib.contextmanager
    def cell(self, table, row, column):
        """The checks of one cell. The cell gets the words that are appended to the yielded list, or FAILED if a check fails."""
        cells, said, before = self.tables.setdefault(table, {}), [], failed
        fine = cells.get((row, column)) != 'FAILED'
        cells[row, column] = 'FAILED'
        yield said
        if fine and failed == before:
            cells[row, column] = ', '.join(said)

    def print(self):
        for table, cells in self.tables.items():
            columns = list(dict.fromkeys(column for _, column in cells))
            lines = [['', *columns]] + [[row, *(cells.get((row, column), '') for column in columns)]
                                        for row in dict.fromkeys(row for row, _ in cells)]
            widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
            print(f'\n{table}')
            for line in lines:
                print('  ' + '  '.join(word.ljust(width) for word, width in zip(line, widths)).rstrip())


matrix = Matrix()


class Side:
    """A library, an application and plugins of one age."""

    def __init__(self, name, folder, abi):
        self.name, self.folder, self.abi = name, folder, abi
        for plugin, library in {**LIBRARIES, 'cpu': 'wye_cpu.so'}.items():
            write_manifest(folder, plugin, library, abi, '1.0.0' if plugin == 'vendor' else abi['version'])
        # The layers of each side are in a folder of their own, so that they can be put over plugins of any side.
        self.layers = folder / 'layers'
        for layer, library in LAYERS.items():
            if (folder / library).exists():
                self.layers.mkdir(exist_ok=True)
                shutil.move(folder / library, self.layers / library)
                write_manifest(self.layers, layer, library, abi, abi['version'], kind='layer')

    def of_1_0_in_draft(self):
        return self.abi['draft'] != 0 and self.abi['minor'] == 0

    def agrees(self, other):
        """The effective minor of two sides."""
        frozen = [side.abi['minor'] - (side.abi['draft'] != 0) for side in (self, other)]
        return min(self.abi['minor'], other.abi['minor']) if self.abi['draft'] == other.abi['draft'] else min(frozen)

    def works_with(self, other):
        return self.abi['draft'] == other.abi['draft'] or not (self.of_1_0_in_draft() or other.of_1_0_in_draft())


def write_manifest(folder, plugin, library, abi, version, kind='plugin', **more):
    manifest = {'schema': 1, 'id': plugin, 'kind': kind, 'library': library, 'arch': os.uname().machine, 'backend': plugin,
                'version': version, 'abi': {'major': abi['major'], 'draft': abi['draft'], 'minor_needed': 0,
                                            'minor_built': abi['minor']}, **more}
    (folder / pathlib.Path(library).with_suffix('.wye.json')).write_text(json.dumps(manifest), encoding='utf-8')


def build_side(work, abi, application, library, plugins):
    folder = work / 'build'
    folder.mkdir()
    shutil.copy(application, folder / 'application')
    shutil.copy(library, folder / 'libwye.so.0')
    for plugin in plugins:
        shutil.copy(plugin, folder / BUILT.get(os.path.basename(plugin), os.path.basename(plugin)))
    return Side('the build', folder, abi)


def archived_sides(work):
    for archive in sorted((HERE / 'archives').glob('*.tar.xz')):
        folder = work / archive.name.removesuffix('.tar.xz')
        folder.mkdir()
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        yield Side(folder.name, folder, json.loads((folder / 'archive.json').read_text(encoding='utf-8')))


def future_side(work, build, name, *options):
    """Builds the sources as a later minor has them."""
    tree, files = build / f'{name} sources', work / name
    subprocess.run([HERE / 'future.py', HERE.parent.parent, tree, *options], check=True)
    done = subprocess.run([tree / 'tests/skew/build_side.sh', '--kit', tree, build / name, files, '--buildtype=plain'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          # so that the compiler cache finds the files again under other names
                          env={**os.environ, 'CCACHE_BASEDIR': str(build), 'CCACHE_NOHASHDIR': '1'})
    if done.returncode != 0:
        sys.exit(f'{done.stdout[-6000:]}\nskew_check.py: {name} does not build')
    return Side(name, files, json.loads((files / 'archive.json').read_text(encoding='utf-8')))


def later_parts(work, future, now):
    """Compiles with only the headers of the next minor: a small host, a plugin that reports its additions, an application."""
    tree, files = future / 'the next minor sources', work / 'later'
    files.mkdir()
    subprocess.run([HERE / 'future.py', HERE.parent.parent, tree], check=True)
    compile_c = [*shlex.split(os.environ.get('CC', 'gcc')), '-std=c11', f'-I{tree}/plugin-abi/include', f'-I{tree}/runtime/include']
    for output, words in (('later_host', [HERE / 'later_host.c', '-ldl']),
                          ('wye_vendor.so', ['-DREPORTS_LATER', '-shared', '-fPIC', '-fvisibility=hidden', HERE / 'vendor_plugin.c']),
                          ('application', [HERE / 'application.c', now.folder / 'libwye.so.0'])):
        subprocess.run([*compile_c, *words, '-o', files / output], check=True)
    write_manifest(files, 'vendor', 'wye_vendor.so', {**now.abi, 'minor': now.abi['minor'] + 1, 'draft': 0}, '1.0.0', later={'any': 1},
                   translates=[{'format': 'later-ir', 'from': 'later-source', 'later': 1}])
    return files


def run(host, plugins, *words, layers=None, cache=None, log='', application=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith('WYE_')}
    environment.update(LD_LIBRARY_PATH=str(host.folder), WYE_PLUGIN_PATH=str(plugins))
    environment.update(WYE_CACHE_DIR=str(cache)) if cache else environment.update(WYE_PROBE='off', WYE_CACHE_DIR='')
    if layers:
        environment.update(WYE_PLUGIN_PATH=f'{plugins}:{layers.layers}', WYE_LAYERS='validate,trace')
    if log:
        environment.update(WYE_LOG=log)
    return subprocess.run([application or host.folder / 'application', *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=600, env=environment)


def states(host, plugins, layers=None):
    """State, status code and reason of each plugin, by its id."""
    done = run(host, plugins, 'plugins', layers=layers)
    check(done.returncode == 0, f'{host.name} lists plugins', done.stdout + done.stderr)
    return {line.split(' ', 1)[0]: line.split(' ', 3)[1:] for line in done.stdout.splitlines()}


def numbers(count=5000):
    words = [random.Random(7).getrandbits(32) for _ in range(count)]
    return words, struct.pack(f'<{count}I', *words)


def scales(pair, host, plugins, device, work, program=HERE / 'scale.wye', **how):
    """Runs scale on a device, and compares with arithmetic."""
    words, data = numbers()
    (work / 'in').write_bytes(data)
    (work / 'out').write_bytes(b'')
    factor = 0x9e3779b1
    scaled = struct.pack(f'<{len(words)}I', *((word * factor + 7) % 2**32 for word in words))
    done = run(host, plugins, 'run', device, program, work / 'in', work / 'out', len(data), factor, **how)
    check(done.returncode == 0 and (work / 'out').read_bytes() == scaled, f'{pair}: scale on {device}', done.stderr)
    return done


def works(host, plugins, work, sha256, layers=None):
    pair, row = f'the host of {host.name} with the plugins of {plugins.name}', plugins.name
    if layers:
        pair += f' below the layers of {layers.name}'
        row += f', below the layers of {layers.name}'
    with matrix.cell('Plugins (rows) in hosts (columns)', row, host.name) as said:
        found = states(host, plugins.folder, layers)
        for plugin in LIBRARIES:
            check(found.get(plugin, [''])[0] == READY, f'{pair}: {plugin} is ready', str(found.get(plugin)))
        for device in ('cpu_file', 'cpu'):
            scales(pair, host, plugins.folder, device, work, layers=layers)
        done = scales(pair, host, plugins.folder, 'vendor', work, layers=layers, log='info')
        minor = min(side.agrees(other) for side in (host, layers or host) for other in (plugins, layers or plugins))
        check(f'vendor: the effective minor is {minor}\n' in done.stderr or plugins.of_1_0_in_draft(),
              f'{pair}: they agree on minor {minor}', done.stderr)
        _, data = numbers()
        source, target, block = work / 'in', work / 'out', 1000
        digests = b''.join(hashlib.sha256(data[at:at + block]).digest() for at in range(0, len(data), block))
        for device in ('cpu_file', 'cpu'):
            target.write_bytes(b'')
            done = run(host, plugins.folder, 'run', device, sha256, source, target, len(digests), len(data), block, layers=layers)
            check(done.returncode == 0 and target.read_bytes() == digests, f'{pair}: sha256 on {device}', done.stderr)
        done = run(host, plugins.folder, 'run', 'vendor', sha256, source, target, 32, len(data), len(data), layers=layers)
        check(done.returncode == 1 and '`scale` only' in done.stderr and 'Fix: ' in done.stderr,
              f'{pair}: the vendor\'s refusal reaches the application', done.stderr)
        said.append(f'works at draft {plugins.abi["draft"]}' if plugins.of_1_0_in_draft() else f'works at minor {minor}')


def refused(host, name, folder, plugin, draft, ours):
    """A host refuses a plugin of another draft, names the drafts of both (one may have no number), and continues."""
    def names(number):
        return (f'draft {number}',) if number else ('draft without a number', 'has ABI 1.')

    with matrix.cell('Plugins (rows) in hosts (columns)', name, host.name) as said:
        state = states(host, folder).get(plugin, ['', '', ''])
        check(state[1] == ABI_MISMATCH and all(any(text in state[2] for text in names(number)) for number in (draft, ours)),
              f'the host of {host.name} refuses {plugin} of {name}, and names both drafts', str(state))
        said.append('refused: ABI mismatch')


def sends_later(later, plugins):
    """A host of a later minor sends a plugin all that its headers added, also through layers."""
    files = {**LIBRARIES, 'cpu': 'wye_cpu.so'}
    for plugin, layer in (('null', ''), ('vendor', ''), ('cpu', ''), ('cpu', 'trace'), ('cpu', 'validate')):
        column = plugin + (f' below {layer}' if layer else '')
        with matrix.cell('Plugins (rows) that are sent what the next minor added', plugins.name, column) as said:
            words = [plugins.folder / files[plugin], SAMPLES / 'scale.wire', *([plugins.layers / LAYERS[layer]] if layer else [])]
            done = subprocess.run([later / 'later_host', *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False, timeout=60)
            lines = [line.split(': ', 3) for line in done.stdout.splitlines()]
            bad = [line for line in lines if line[0] != 'good']
            refusals = sum(line[0] == 'good' and 'status 0' not in line[2] for line in lines)
            check(done.returncode == 0 and not bad and len(lines) >= (6 if plugin == 'null' else 40),
                  f'{column} of {plugins.name} refuses what a later host sends', f'{done.returncode}: {bad} {done.stdout[-1000:]}')
            said.append(f'refuses {refusals}, takes {len(lines) - refusals}')


def shows_later(later, host, work, sha256):
    """A plugin of a later minor reports what its headers added. Hosts ignore these additions, or show them as unknown."""
    with matrix.cell('A plugin that reports what the next minor added', 'the next minor', host.name) as said:
        pair = f'the host of {host.name} with a plugin that reports what the next minor added'
        for layers in (None, host):
            scales(pair, host, later, 'vendor', work, layers=layers)
        done = run(host, later, 'run', 'vendor', sha256, work / 'in', work / 'out', 32, 20000, 20000)
        check(done.returncode == 1 and 'unknown status: ' in done.stderr and 'Fix: ' in done.stderr, f'{pair}: a later status', done.stderr)
        done = run(host, later, 'report', work / 'report')
        report = json.loads((work / 'report').read_text(encoding='utf-8') if done.returncode == 0 else '{}')
        devices = [device for device in report.get('devices', ()) if device['plugin'] == 'vendor']
        check([device['usable'] for device in devices] == [True, False] and devices[0]['formats'] == ['later-ir', 'wye-program'] and
              all(device['facts'][fact] is None and device['fact_reasons'][fact] == 'bad_answer'
                  for device in devices for fact in ('l1_cache_bytes', 'l2_cache_bytes')), f'{pair}: the report', str(devices)[:2000])
        messages = ' '.join(record['message'] for record in report.get('records', ()))
        for pattern in ('its state is 2', r'l1_cache_bytes: (a wrong )?type \(?7', 'l2_cache_bytes: status 39',
                        'key `later` is not known', r'key `translates\[0\].later` is not known'):
            check(re.search(pattern, messages), f'{pair}: the report says `{pattern}`', messages)
        said.append('works, and shows 5 things as unknown')


def applications(libraries, others, later, work):
    """Applications with libraries of another age: structures of one size work, others are refused with both sizes."""
    built = {**{side.name: side.folder / 'application' for side in others}, 'longer structures': later / 'application'}
    for library in libraries:
        for name, application in built.items():
            with matrix.cell('Libraries (rows) with applications (columns)', library.name, name) as said:
                pair = f'the application of {name} with the library of {library.name}'
                later_ones = [side.startswith('the next minor') for side in (library.name, name)]
                same = later_ones[0] == (later_ones[1] or name == 'longer structures')
                done = run(library, library.folder, 'plugins', application=application)
                size = re.search(r'`header.size` of (wye_\w+) is (\d+); libwye \S+ expects (\d+)\. Fix: ', done.stderr)
                if done.returncode == 0 and same:
                    scales(pair, library, library.folder, 'vendor', work, application=application)
                    said.append('works')
                    continue
                check(done.returncode == 1 and size and size.group(2) != size.group(3), f'{pair} is refused by name', done.stderr)
                said.append(f'refused: {size.group(1)} has {size.group(2)} bytes, not {size.group(3)}' if size else '')


def members(value, path=''):
    """The members of a JSON document with their types: (path, type). Elements of a list count as one; null has any type."""
    if isinstance(value, dict):
        return {pair for key, one in value.items() for pair in {(f'{path}.{key}', type(one).__name__)} | members(one, f'{path}.{key}')}
    return {pair for one in value for pair in members(one, path + '[]')} if isinstance(value, list) else set()


def lost_members(old, new):
    known = members(new)
    return sorted((path, kind) for path, kind in members(old) - known
                  if not {(path, 'NoneType')} & known and not (kind == 'NoneType' and any(path == one for one, _ in known)))


FILES = 'Files (rows) that libraries (columns) read'


def reads_files(sides, work, sha256):
    """Each side reads the wire forms and the cache files that the others wrote. Reports gain members, and lose none."""
    data = random.Random(11).randbytes(3000)
    digests = b''.join(hashlib.sha256(data[at:at + 100]).digest() for at in range(0, 3000, 100))
    cache = work / 'cache'
    cache.mkdir(mode=0o700)
    reports = {'1.0, stored': json.loads((SAMPLES / 'report.json').read_text(encoding='utf-8'))}
    for writer in sides:
        wire = work / 'wire'
        done = run(writer, writer.folder, 'wire', sha256, wire)
        check(done.returncode == 0, f'{writer.name} writes a wire form', done.stderr)
        for reader in sides:
            with matrix.cell(FILES, f'wire form of {writer.name}', reader.name) as said:
                (work / 'in').write_bytes(data)
                (work / 'out').write_bytes(b'')
                done = run(reader, reader.folder, 'run', 'cpu_file', wire, work / 'in', work / 'out', len(digests), 3000, 100, cache=cache)
                check(done.returncode == 0 and (work / 'out').read_bytes() == digests,
                      f'{reader.name} runs the wire form of {writer.name}, with one cache for all', done.stderr)
                said.append('runs')
        done = run(writer, writer.folder, 'report', work / 'report')
        check(done.returncode == 0, f'{writer.name} reports', done.stderr)
        reports[writer.name] = json.loads((work / 'report').read_text(encoding='utf-8'))
    for name, old in reports.items():
        for writer in sides:
            if writer is not sides[0] and not writer.name.startswith('the next') or name.startswith('the next'):
                continue  # an older library's report may have fewer members
            with matrix.cell(FILES, f'report of {name}: its members', writer.name) as said:
                lost = lost_members(old, reports[writer.name])
                check(not lost, f'the report of {writer.name} has what that of {name} had', str(lost))
                said.append('all are there')
    for again in ('cache of all of them', 'cache with later versions in it'):
        for reader in sides:
            with matrix.cell(FILES, again, reader.name) as said:
                scales(f'{reader.name} with a {again}', reader, reader.folder, 'vendor', work, cache=cache)
                said.append('works')
        entries = [path for path in (cache / 'programs').glob('*') if len(path.name) == 32]
        check(len(entries) >= len(sides), 'the cache has an entry of each side', str(entries))
        for path in cache.rglob('*'):
            if path.is_file():  # the first bytes state the version: WYECACH2
                path.write_bytes(path.read_bytes()[:7] + b'9' + path.read_bytes()[8:])


def with_section(wire, number, content):
    """A wire form with one more section, in the order of the numbers."""
    count, = struct.unpack_from('<I', wire, 12)
    sections = [struct.unpack_from('<IIQQ', wire, 24 + 24 * at) for at in range(count)]
    parts = sorted([(section, wire[at:at + size]) for section, _, at, size in sections] + [(number, content)])
    table, body = b'', b''
    start = 24 + 24 * len(parts)
    for section, part in parts:
        body += bytes(-len(body) % 8)
        table += struct.pack('<IIQQ', section, 0, start + len(body), len(part))
        body += part
    return wire[:12] + struct.pack('<IQ', len(parts), start + len(body)) + table + body


def reads_samples(sides, work):
    """Each side reads files that 1.0 wrote and that are stored here, and those that a later version may write."""
    wire = (SAMPLES / 'scale.wire').read_bytes()
    manifest = json.loads((SAMPLES / 'wye_vendor.wye.json').read_text(encoding='utf-8'))
    for reader in sides:
        for name, form, wanted in (('wire form of 1.0, stored', wire, ''),
                                   ('wire form with a later note', with_section(wire, 0x80000002, b'note'), ''),
                                   ('wire form of a later minor', wire[:10] + b'\x63\0' + wire[12:], '1.99'),
                                   ('wire form of another major', wire[:8] + b'\2\0' + wire[10:], '2.0'),
                                   ('wire form with a later section', with_section(wire, 0x63, b'later'), '0x63')):
            with matrix.cell(FILES, name, reader.name) as said:
                (work / 'wire').write_bytes(form)
                if not wanted:
                    scales(f'{reader.name} with a {name}', reader, reader.folder, 'cpu_file', work, work / 'wire')
                    said.append('runs')
                    continue
                done = run(reader, reader.folder, 'run', 'cpu_file', work / 'wire', work / 'in', work / 'out', 20000, 1)
                check(done.returncode == 1 and wanted in done.stderr and 'Fix: ' in done.stderr,
                      f'{reader.name} refuses a {name}, by its number', done.stderr)
                said.append(f'refused: {wanted}')
        for name, changed, wanted in (('manifest of 1.0, stored', {}, ''), ('manifest with later members', {'later': {'any': 1}}, ''),
                                      ('manifest of a later schema', {'schema': 2}, 'schema 2 is not known'),
                                      ('manifest of a later kind', {'kind': 'later'}, 'kind `later` is not known')):
            with matrix.cell(FILES, name, reader.name) as said:
                folder = work / f'manifest of {reader.name}'
                folder.mkdir(exist_ok=True)
                shutil.copy(reader.folder / 'wye_vendor.so', folder)
                minor = {'abi': {**manifest['abi'], 'minor_built': reader.abi['minor']}}
                (folder / 'wye_vendor.wye.json').write_text(json.dumps({**manifest, **minor, **changed}), encoding='utf-8')
                done = run(reader, folder, 'plugins')
                pair = f'{reader.name} with a {name}'
                if wanted:
                    check(done.returncode == 0 and f' {BAD_MANIFEST} ' in done.stdout and wanted in done.stdout, pair,
                          done.stdout + done.stderr)
                    said.append('refused: bad manifest')
                else:
                    scales(pair, reader, folder, 'vendor', work)
                    said.append('works')


def math_sets(now, sides, work):
    """Plugins of every age run a program of math set 2, since hosts give them set 1. An older library refuses it by name."""
    program, wire = work / 'set2.wye', work / 'set2.wire'
    program.write_text((HERE / 'scale.wye').read_text(encoding='utf-8').replace('wye 1;', 'wye 1;\nmath 2;').replace(
        '+ 7u', '+ 6u + u32(cospi(0.0))'), encoding='utf-8')
    done = run(now, now.folder, 'wire', program, wire)
    check(done.returncode == 0, f'{now.name} writes a wire form of math set 2', done.stderr)
    for side in sides:
        with matrix.cell('Plugins (rows) in hosts (columns)', f'{side.name}, math set 2', now.name) as said:
            for device in ('cpu_file', 'cpu'):
                scales(f'{now.name} with the plugins of {side.name}: math set 2', now, side.folder, device, work, program)
            said.append('works')
        with matrix.cell(FILES, 'wire form of math set 2', side.name) as said:
            done = run(side, side.folder, 'run', 'cpu_file', wire, work / 'in', work / 'out', 20000, 1)
            refused = done.returncode == 1 and 'math set 2 is unknown' in done.stderr and 'Fix: ' in done.stderr
            check(refused or side is now or done.returncode == 0, f'{side.name} runs or refuses a wire form of math set 2', done.stderr)
            if refused:
                said.append('refused: math set 2')
            else:
                scales(f'{side.name} with a wire form of math set 2', side, side.folder, 'cpu_file', work, wire)
                said.append('runs')


# The groups of the kit that apply to all plugins; the template has no device. The slow groups are divided among the runs.
SUITES = ['load', 'plugin', 'skew']
DEVICE_SUITES = ['device_skew', 'device', 'queue', 'program', 'command', 'launch', 'native', 'hostile', 'threads']
SLOW_SUITES = ['memory', 'timeline', 'leaks', 'order', 'lifetime']


def check_kit(name, kit, plugins, slow):
    """A kit judges plugins of another age."""
    for plugin in ('null', 'vendor', 'cpu'):
        with matrix.cell('Plugins (rows) under kits (columns)', f'{plugin} of {plugins.name}', name) as said:
            asked = SUITES if plugin == 'null' else SUITES + DEVICE_SUITES + slow
            done = subprocess.run([kit, plugins.folder / {**LIBRARIES, 'cpu': 'wye_cpu.so'}[plugin], f'--test-suite={",".join(asked)}'],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
            cases = re.search(r'test cases: *(\d+) *\| *(\d+) passed', done.stdout)
            check(done.returncode == 0 and cases and int(cases.group(2)) > 0, f'the kit of {name} passes {plugin} of {plugins.name}',
                  done.stdout[-3000:])
            said.append(f'{cases.group(2)} cases pass' if cases else '')


def main(words):
    if len(words) < 14:
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    abi = dict(zip(('major', 'draft', 'minor'), map(int, words[0].split('.'))))
    abi['version'] = words[1]
    sha256, other, kit, future = words[2:6]
    with tempfile.TemporaryDirectory(prefix='wye-skew.') as name, contextlib.ExitStack() as at_the_end:
        at_the_end.callback(matrix.print)
        work = pathlib.Path(name)
        archived = list(archived_sides(work))
        now = build_side(work, abi, words[6], words[7], words[8:])
        # Building a later side takes minutes. One run in three builds the first one; a run that takes all slices builds both.
        part = slices.of_this_run('the next minor beside this one', 3)
        later = []
        if not part.start:
            later.append(future_side(work, pathlib.Path(future), 'the next minor'))
        if part == slice(None):
            later.append(future_side(work, pathlib.Path(future), 'the next minor in development', '--draft', '9'))
        sides = [now, *archived, *later]
        check(any(side.abi['minor'] == abi['minor'] and side.abi['draft'] == abi['draft'] for side in archived),
              f'there is an archive of ABI {abi["major"]}.{abi["minor"]}', 'Fix: make one, tests/skew/archive.sh')
        for host in sides:
            for plugins in sides:
                if host.works_with(plugins):
                    works(host, plugins, work, sha256)
                    for layers in (host, plugins) if host is not plugins else ():
                        if layers.layers.exists():
                            works(host, plugins, work, sha256, layers)
                else:
                    for plugin in LIBRARIES:
                        refused(host, plugins.name, plugins.folder, plugin, plugins.abi['draft'], host.abi['draft'])
            # The host must find a draft of 1.0 in the manifest or, if the manifest does not state it, in the plugin.
            for claimed in (3, host.abi['draft']) if host.abi['draft'] != 3 else ():
                folder = work / f'other-{host.name}-{claimed}'
                folder.mkdir()
                shutil.copy(other, folder / 'other_draft.so')
                write_manifest(folder, 'other_draft', 'other_draft.so', {**abi, 'draft': claimed}, '0.1.0')
                refused(host, 'draft 3', folder, 'other_draft', 3, host.abi['draft'])
        released = [side for side in sides if not side.of_1_0_in_draft()]
        parts = later_parts(work, pathlib.Path(future), now)
        for side in released:
            if side not in later:
                sends_later(parts, side)
                shows_later(parts, side, work, sha256)
        applications(released, released, parts, work)
        reads_files(released, work, sha256)
        reads_samples(released, work)
        math_sets(now, released, work)
        slow = SLOW_SUITES[slices.of_this_run('the slow groups of the kit', 5)]
        for side in released:
            check_kit(now.name, kit, side, slow if side in archived else [])
        for side in later:
            for plugins in (now, *archived):
                if plugins in released:
                    more = slow if plugins in archived and side is later[0] else []
                    check_kit(side.name, side.folder / 'wye-conform-abi', plugins, more)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
