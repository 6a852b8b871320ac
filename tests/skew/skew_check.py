#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs hosts, layers and plugins of different ages together: archived ones of this folder, those of a build, and future ones.

usage: skew_check.py ABI VERSION SHA256 OTHER_DRAFT KIT FUTURE APPLICATION LIBRARY PLUGIN...

ABI is MAJOR.DRAFT.MINOR of the build, VERSION the version of its plugins, SHA256 the program sha256.wye, OTHER_DRAFT a plugin of
another draft, KIT the kit wye-conform-abi. FUTURE is a folder for builds of a later minor, which future.py makes of these sources;
they are kept. The other files are the build's: the application of this folder, libwye.so, the plugins null, cpu, vendor and
cpu_file, and the layers validate and trace. Sides that have a released minor in common run programs on each other's plugins, with
and without the layers of either, and the results are compared with arithmetic and a digest computed here. A host must refuse
plugins of the drafts of 1.0 by name. The last line is "N passed, N failed".
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import slices

HERE = pathlib.Path(__file__).resolve().parent
READY, ABI_MISMATCH = '1', '27'
LIBRARIES = {'null': 'wye_null.so', 'cpu_file': 'cpu_file.so', 'vendor': 'wye_vendor.so'}
LAYERS = {'validate': 'wye_layer_validate.so', 'trace': 'wye_layer_trace.so'}
BUILT = {'skew_vendor.so': 'wye_vendor.so', 'skew_cpu_file.so': 'cpu_file.so'}  # names in a build
passed = failed = 0


def check(good, what, detail=''):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f'FAILED: {what}\n{detail}')


class Side:
    """A library, an application and plugins of one age."""

    def __init__(self, name, folder, abi):
        self.name, self.folder, self.abi = name, folder, abi
        for plugin, library in {**LIBRARIES, 'cpu': 'wye_cpu.so'}.items():
            write_manifest(folder, plugin, library, abi, '1.0.0' if plugin == 'vendor' else abi['version'])
        # Layers have a folder of their own, so that each side's can be put over each plugin.
        self.layers = folder / 'layers'
        for layer, library in LAYERS.items():
            if (folder / library).exists():
                self.layers.mkdir(exist_ok=True)
                shutil.move(folder / library, self.layers / library)
                write_manifest(self.layers, layer, library, abi, abi['version'], kind='layer')

    def of_1_0_in_draft(self):
        return self.abi['draft'] != 0 and self.abi['minor'] == 0

    def works_with(self, other):
        return self.abi['draft'] == other.abi['draft'] or not (self.of_1_0_in_draft() or other.of_1_0_in_draft())


def write_manifest(folder, plugin, library, abi, version, kind='plugin'):
    manifest = {'schema': 1, 'id': plugin, 'kind': kind, 'library': library, 'arch': os.uname().machine, 'backend': plugin,
                'version': version, 'abi': {'major': abi['major'], 'draft': abi['draft'], 'minor_needed': 0,
                                            'minor_built': abi['minor']}}
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
    """The sources as a later minor has them, built."""
    tree, files = build / f'{name} sources', work / name
    subprocess.run([HERE / 'future.py', HERE.parent.parent, tree, *options], check=True)
    done = subprocess.run([tree / 'tests/skew/build_side.sh', '--kit', tree, build / name, files, '--buildtype=plain'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          # so that the compiler cache finds them again under another name
                          env={**os.environ, 'CCACHE_BASEDIR': str(build), 'CCACHE_NOHASHDIR': '1'})
    if done.returncode != 0:
        sys.exit(f'{done.stdout[-6000:]}\nskew_check.py: {name} does not build')
    return Side(name, files, json.loads((files / 'archive.json').read_text(encoding='utf-8')))


def run(host, plugins, *words, layers=None, cache=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith('WYE_')}
    environment.update(LD_LIBRARY_PATH=str(host.folder), WYE_PLUGIN_PATH=str(plugins))
    environment.update(WYE_CACHE_DIR=str(cache)) if cache else environment.update(WYE_PROBE='off', WYE_CACHE_DIR='')
    if layers:
        environment.update(WYE_PLUGIN_PATH=f'{plugins}:{layers.layers}', WYE_LAYERS='validate,trace')
    return subprocess.run([host.folder / 'application', *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=600, env=environment)


def states(host, plugins, layers=None):
    """State, status code and reason of each plugin, by its id."""
    done = run(host, plugins, 'plugins', layers=layers)
    check(done.returncode == 0, f'{host.name} lists plugins', done.stdout + done.stderr)
    return {line.split(' ', 1)[0]: line.split(' ', 3)[1:] for line in done.stdout.splitlines()}


def works(host, plugins, work, sha256, layers=None):
    pair = f'the host of {host.name} with the plugins of {plugins.name}'
    if layers:
        pair += f' below the layers of {layers.name}'
    found = states(host, plugins.folder, layers)
    for plugin in LIBRARIES:
        check(found.get(plugin, [''])[0] == READY, f'{pair}: {plugin} is ready', str(found.get(plugin)))
    words = [random.Random(7).getrandbits(32) for _ in range(5000)]
    data = struct.pack(f'<{len(words)}I', *words)
    source, target = work / 'in', work / 'out'
    source.write_bytes(data)
    factor = 0x9e3779b1
    scaled = struct.pack(f'<{len(words)}I', *((word * factor + 7) % 2**32 for word in words))
    for device in ('cpu_file', 'vendor', 'cpu'):
        target.write_bytes(b'')
        done = run(host, plugins.folder, 'run', device, HERE / 'scale.wye', source, target, len(data), factor, layers=layers)
        check(done.returncode == 0 and target.read_bytes() == scaled, f'{pair}: scale on {device}', done.stderr)
    block = 1000
    digests = b''.join(hashlib.sha256(data[at:at + block]).digest() for at in range(0, len(data), block))
    for device in ('cpu_file', 'cpu'):
        target.write_bytes(b'')
        done = run(host, plugins.folder, 'run', device, sha256, source, target, len(digests), len(data), block, layers=layers)
        check(done.returncode == 0 and target.read_bytes() == digests, f'{pair}: sha256 on {device}', done.stderr)
    done = run(host, plugins.folder, 'run', 'vendor', sha256, source, target, 32, len(data), len(data), layers=layers)
    check(done.returncode == 1 and '`scale` only' in done.stderr and 'Fix: ' in done.stderr,
          f'{pair}: the vendor\'s refusal reaches the application', done.stderr)


def refused(host, name, folder, plugin, draft, ours):
    """The error names both drafts, or that one is none, and the application continues."""
    def names(number):
        return (f'draft {number}',) if number else ('draft without a number', 'has ABI 1.')

    state = states(host, folder).get(plugin, ['', '', ''])
    check(state[1] == ABI_MISMATCH and all(any(text in state[2] for text in names(number)) for number in (draft, ours)),
          f'the host of {host.name} refuses {plugin} of {name}, and names both drafts', str(state))


def members(value, path=''):
    """The members of a JSON document with their types: (path, type). Elements of a list count as one; null has any type."""
    if isinstance(value, dict):
        return {pair for key, one in value.items() for pair in {(f'{path}.{key}', type(one).__name__)} | members(one, f'{path}.{key}')}
    return {pair for one in value for pair in members(one, path + '[]')} if isinstance(value, list) else set()


def reads_files(sides, work, sha256):
    """Each side reads what the others wrote: wire forms, the files of one cache folder; and reports only gain members."""
    data = random.Random(11).randbytes(3000)
    (work / 'in').write_bytes(data)
    digests = b''.join(hashlib.sha256(data[at:at + 100]).digest() for at in range(0, 3000, 100))
    cache = work / 'cache'
    cache.mkdir(mode=0o700)
    reports = {}
    for writer in sides:
        wire = work / 'wire'
        done = run(writer, writer.folder, 'wire', sha256, wire)
        check(done.returncode == 0, f'{writer.name} writes a wire form', done.stderr)
        for reader in sides:
            (work / 'out').write_bytes(b'')
            done = run(reader, reader.folder, 'run', 'cpu_file', wire, work / 'in', work / 'out', len(digests), 3000, 100, cache=cache)
            check(done.returncode == 0 and (work / 'out').read_bytes() == digests,
                  f'{reader.name} runs the wire form of {writer.name}, with one cache for all', done.stderr)
        done = run(writer, writer.folder, 'report', work / 'report')
        check(done.returncode == 0, f'{writer.name} reports', done.stderr)
        reports[writer.name] = json.loads((work / 'report').read_text(encoding='utf-8'))
    ours = members(reports[sides[0].name])
    for name, report in reports.items():
        lost = {(path, kind) for path, kind in members(report) - ours
                if not {(path, 'NoneType')} & ours and not (kind == 'NoneType' and any(path == known for known, _ in ours))}
        check(name.startswith('the next') or not lost, f'the report has what that of {name} had', str(sorted(lost)))


def check_kit(kit, plugins):
    """A kit judges plugins of another age."""
    for plugin in ('null', 'cpu_file'):
        suites = 'load,plugin' if plugin == 'null' else 'load,plugin,skew,device_skew,device,queue,memory,program'
        done = subprocess.run([kit, plugins.folder / LIBRARIES[plugin], f'--test-suite={suites}'], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        check(done.returncode == 0, f'the kit passes {plugin} of {plugins.name}', done.stdout[-3000:])


def main(words):
    if len(words) < 14:
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    abi = dict(zip(('major', 'draft', 'minor'), map(int, words[0].split('.'))))
    abi['version'] = words[1]
    sha256, other, kit, future = words[2:6]
    with tempfile.TemporaryDirectory(prefix='wye-skew.') as name:
        work = pathlib.Path(name)
        archived = list(archived_sides(work))
        now = build_side(work, abi, words[6], words[7], words[8:])
        # Building them takes minutes, so the first is part of every third run, and the second of those that take all slices.
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
            # The host finds a draft of 1.0 in the manifest, or in the plugin if the manifest does not state it.
            for claimed in (3, host.abi['draft']) if host.abi['draft'] != 3 else ():
                folder = work / f'other-{host.name}-{claimed}'
                folder.mkdir()
                shutil.copy(other, folder / 'other_draft.so')
                write_manifest(folder, 'other_draft', 'other_draft.so', {**abi, 'draft': claimed}, '0.1.0')
                refused(host, 'draft 3', folder, 'other_draft', 3, host.abi['draft'])
        released = [side for side in sides if not side.of_1_0_in_draft()]
        reads_files(released, work, sha256)
        for side in released:
            check_kit(kit, side)
        for side in later:
            check_kit(side.folder / 'wye-conform-abi', now)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
