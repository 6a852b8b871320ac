#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the host instructions of a prepared resident submit with callgrind: those of libwye, of the plugin, and of the
C and C++ libraries that they call. Instructions of the driver are not counted. The counts do not depend on other
work of the machine. Needs valgrind. A release build gives the figures that users have.

CUDA runs on the fake driver of tests/fakes, OpenCL and Vulkan on a driver of this machine (PoCL, lavapipe). With a real
driver a wait polls for some time, so only the counts of submits are steady."""
import argparse
import collections
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

# The functions of repeat_dispatch.cpp, and their names in the output.
FORMS = {
    'measured_submit': 'submit',
    'measured_submit_params': 'submit with new parameters',
    'measured_wait_free': 'wait and free',
    'measured_run': 'submit and wait in one call',
    'measured_dispatch': 'repeated dispatch',
    'measured_pipeline': 'repeated, through a pipeline',
    'measured_batch': 'batch, per item',
    'measured_pointers': 'batch by pointers, per item',
    'measured_mixed': 'batch of 8 items in turn, per item',
    'measured_rows': 'rows of 8 buffers, per row',
}
ITEMS = {'measured_batch': 1000, 'measured_pointers': 1000, 'measured_mixed': 1000, 'measured_rows': 1000}  # per call; all others: 1
SYSTEM = re.compile(r'(libc|libstdc\+\+|libm|libgcc_s|libpthread|ld-linux[^/]*|libc\+\+)(-[0-9.]+)?\.so')
ALLOCATES = re.compile(r'^(malloc|calloc|realloc|aligned_alloc|posix_memalign|operator new)\b')


def own(name):
    base = os.path.basename(name)
    return base.startswith('libwye.so') or (base.startswith('wye_') and '.so' in base)


class Dump:
    """One output file of callgrind: the cost of one call of a measured function."""

    def __init__(self, path):
        self.trigger = ''
        self.objects = collections.Counter()    # Wye's objects, and "file called by Wye" for system libraries
        self.functions = collections.Counter()  # (object, function) -> instructions
        self.native = collections.Counter()     # calls of the driver
        self.allocations = 0
        self.read(path)

    def read(self, path):
        now = {'ob': '', 'fn': '', 'cob': None, 'cfn': ''}
        calls = 0
        entry = re.compile('(c?(?:fn|ob))=(.*)')
        with open(path, encoding='utf-8', errors='replace') as lines:
            for line in lines:
                line = line.rstrip('\n')
                if line.startswith('desc: Trigger:'):
                    self.trigger = line.rsplit('=', 1)[-1].strip()
                elif match := entry.match(line):
                    now[match.group(1)] = match.group(2)
                elif line.startswith('calls='):
                    calls = int(line[6:].split()[0])
                elif line and line[0] in '0123456789+-*':
                    words = line.split()
                    cost = int(words[1]) if len(words) > 1 else 0
                    if calls:
                        self.call(now, calls, cost)
                        calls, now['cob'] = 0, None
                    elif own(now['ob']):
                        self.add(now['ob'], now['fn'], cost)

    def add(self, file, function, cost):
        self.objects[os.path.basename(file)] += cost
        self.functions[os.path.basename(file), function] += cost

    def call(self, now, calls, cost):
        target = now['cob'] or now['ob']
        if not own(now['ob']) or own(target):
            return
        base = os.path.basename(target)
        if SYSTEM.match(base):
            self.add(target, now['cfn'], cost)
            if ALLOCATES.match(now['cfn']):
                self.allocations += calls
        else:
            self.native[now['cfn']] += calls

    @property
    def total(self):
        return sum(self.objects.values())


def measure(build, device, work):
    plugin = device.split(':')[0]
    command = [os.path.join(build, 'tests/bench/repeat_dispatch'), device]
    if plugin == 'cuda':
        command.append(os.path.join(build, 'tests/fakes/libfake_cuda.so'))
    environment = dict(os.environ, LD_BIND_NOW='1')
    environment.setdefault('WYE_PLUGIN_PATH', os.path.join(build, 'plugins', plugin))
    out = os.path.join(work, plugin)
    valgrind = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', '--separate-threads=yes',
                '--compress-strings=no']
    for form in FORMS:
        valgrind += [f'--zero-before={form}', f'--dump-after={form}']
    done = subprocess.run(valgrind + command, env=environment, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f'{device}: {done.stdout}{done.stderr}\n'
                           f'Fix: build repeat_dispatch, {plugin} and the fakes, and install its driver')
    forms = collections.defaultdict(list)
    for path in glob.glob(glob.escape(out) + '.*-01'):
        dump = Dump(path)
        if dump.trigger in FORMS:
            forms[dump.trigger].append(dump)
    if set(forms) != set(FORMS):
        raise RuntimeError(f'{device}: callgrind wrote no counts of {", ".join(sorted(set(FORMS) - set(forms)))}\n'
                           'Fix: report this')
    return {form: sorted(forms[form], key=lambda dump: dump.total) for form in FORMS}


def show(device, forms, wanted, functions):
    for form, dumps in forms.items():
        if wanted and FORMS[form] not in wanted:
            continue
        middle = dumps[len(dumps) // 2]
        items = ITEMS.get(form, 1)

        def per_item(cost):
            return round(cost / items)
        least, most = per_item(dumps[0].total), per_item(dumps[-1].total)
        spread = '' if least == most else f' ({least} to {most})'
        native = ', '.join(name if count == 1 else f'{count} {name}' for name, count in middle.native.most_common(6))
        parts = ', '.join(f'{file} {per_item(cost)}' for file, cost in middle.objects.most_common())
        print(f'{device:<10} {FORMS[form]:<28} {per_item(middle.total):>6}{spread}\n'
              f'{"":<10}   {parts}; {middle.allocations} allocations; driver calls: {native or "none"}')
        if functions:
            for (file, name), cost in middle.functions.most_common():
                if per_item(cost) != 0:
                    print(f'{"":<10}   {per_item(cost):>6}  {file:<18.18} {name:.110}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', help='build folder, with -Dbenchmarks=true')
    parser.add_argument('--devices', default='cuda,opencl:0,vulkan:0', help='selectors, separated by commas (%(default)s)')
    parser.add_argument('--form', action='append', choices=list(FORMS.values()), help='only this form (may be repeated)')
    parser.add_argument('--functions', action='store_true', help='also list the functions')
    parser.add_argument('--at-most', type=int, metavar='N',
                        help='exit with 1 if a submit takes more than N instructions, or allocates')
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory(prefix='wye-instructions.') as work:
        for device in options.devices.split(','):
            try:
                forms = measure(os.path.realpath(options.build), device, work)
            except (OSError, RuntimeError) as error:
                print(error, file=sys.stderr)
                status = 1
                continue
            show(device, forms, options.form, options.functions)
            for form in ('measured_submit', 'measured_submit_params'):
                totals = [dump.total for dump in forms[form]]
                if options.at_most is not None and (statistics.median(totals) > options.at_most
                                                    or any(dump.allocations for dump in forms[form])):
                    status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
