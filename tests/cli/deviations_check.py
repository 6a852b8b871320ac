#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `wye conform` on plugins that each break one rule of the contract: the first failure must be of that rule.

usage: deviations_check.py WYE FAKES

FAKES is the folder of the fake plugins. All groups up to the one that must find a fault try its plugin, so that a wrong failure
of an earlier group shows. Plugins that lack capabilities must conform. A run takes a part of the plugins (tests/support/slice.hpp).
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import slices

wye, fakes = sys.argv[1:]
failures = []
table = []

# (rule, fake, the value of its setting `how`, the group that must find it)
DEVIATIONS = [
    ('P-1', 'no_export', '', 'file'),
    ('P-3', 'short_desc', '', 'load'),
    ('P-4', 'undefined_symbol', '', 'load'),
    ('P-5', 'wrong_id', '', 'load'),
    ('P-6', 'missing_slot', '', 'load'),
    ('P-7', 'deviates', 'takes_flags', 'queue'),
    ('P-8', 'deviates', 'throws', 'device'),
    ('P-9', 'deviates', 'prints', 'process'),
    ('P-10', 'deviates', 'changes_umask', 'process'),
    ('P-11', 'deviates', 'no_remedy', 'program'),
    ('P-12', 'deviates', 'null_buffer', 'device'),
    ('P-13', 'deviates', 'reads_late', 'order'),
    ('P-15', 'deviates', 'one_thread', 'threads'),
    ('P-17', 'deviates', 'other_list', 'plugin'),
    ('P-18', 'deviates', 'no_reason', 'load'),
    ('P-19', 'deviates', 'short_grid', 'launch'),
    ('P-21', 'deviates', 'other_fact', 'plugin'),
    ('P-22', 'deviates', 'same_format', 'plugin'),
    ('P-23', 'turns_wrong', '', 'features'),
    ('P-24', 'deviates', 'other_parameter', 'order'),
    ('P-25', 'deviates', 'early', 'order'),
    ('P-25', 'deviates', 'reverses', 'order'),
    ('P-25', 'deviates', 'keeps_submits', 'order'),
    ('P-26', 'deviates', 'poisons', 'timeline'),
    ('P-27', 'deviates', 'no_limit', 'order'),
    ('P-28', 'deviates', 'fills_more', 'order'),
    ('P-29', 'deviates', 'keeps_plugin', 'leaks'),
    ('P-30', 'deviates', 'crashes_at_exit', 'load'),
    ('P-33', 'deviates', 'loads_nothing', 'program'),
    ('P-34', 'deviates', 'refuses_empty', 'queue'),
    ('P-36', 'deviates', 'cancels_all', 'timeline'),
    ('P-37', 'deviates', 'signals_early', 'timeline'),
    ('P-38', 'deviates', 'takes_usage', 'memory'),
    ('P-39', 'deviates', 'maps_copy', 'memory'),
    ('P-40', 'deviates', 'small_program', 'program'),
    ('P-41', 'breaks_launches', 'runs_once', 'command'),
    ('P-42', 'breaks_launches', 'keeps_parameters', 'command'),
    ('P-43', 'breaks_launches', 'ignores_edges', 'command'),
    ('P-44', 'breaks_launches', 'updates_nothing', 'command'),
    ('P-45', 'deviates', 'boasts', 'queue'),
    ('P-46', 'breaks_launches', 'ignores_indirect', 'launch'),
    ('P-47', 'breaks_launches', 'claims_grid_sync', 'launch'),
    ('P-48', 'deviates', 'registers_copy', 'memory'),
    ('P-49', 'deviates', 'same_handle', 'native'),
    ('P-50', 'breaks_loss', 'denies', 'loss'),
    ('P-51', 'deviates', 'own_memory', 'native'),
    ('P-52', 'breaks_launches', 'ignores_events', 'native'),
    ('P-54', 'deviates', 'fails_waits', 'lifetime'),
    ('P-55', 'deviates', 'loses_uploads', 'order'),
    ('P-55', 'deviates', 'loses_copies', 'order'),
    ('P-55', 'deviates', 'loses_downloads', 'order'),
    ('P-55', 'deviates', 'fills_less', 'order'),
    ('P-57', 'deviates', 'one_plugin', 'plugin'),
    ('P-58', 'deviates', 'waits_in_submit', 'order'),
    ('P-59', 'deviates', 'other_tables', 'device'),
    ('P-60', 'deviates', 'keeps_buffers', 'leaks'),
    ('P-61', 'deviates', 'sleeps_in_query', 'order'),
    ('P-61', 'deviates', 'waits_in_query', 'order'),
]
# The faults of these plugins show only if threads meet in one order, which a busy machine may prevent.
TIMED = ['cancels_all', 'sleeps_in_query', 'waits_in_query', 'waits_in_submit']
# Capabilities that a device may lack and still conform. Without `buffer_map` the device also refuses buffers of the usage STAGING.
LACKS = [
    'f64,ieee_f64,native_f64_div,native_f64_sqrt,native_f64_fma,native_f64_round,atomic_f64_add',
    'int64,atomic_int64,atomic_int64_shared',
    'storage8,storage16,buffer_map',
    'ieee_f32,ieee_f64,f64,int64,storage8,storage16,subgroup,atomic_int64,atomic_int64_shared,atomic_f32_add,atomic_f64_add,'
    'native_f32_div,native_f32_sqrt,native_f32_fma,native_f32_round,native_f64_div,native_f64_sqrt,native_f64_fma,native_f64_round',
]


# The kits use large vectors, and spend half of their time on new pages. So the C library takes huge pages, and keeps freed memory.
ENVIRONMENT = {**os.environ, 'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1073741824'}


def conform(fake, *words):
    done = subprocess.run([wye, 'conform', os.path.join(fakes, fake + '.so'), '--json', '--quick', *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, check=False, timeout=300)
    try:
        return json.loads(done.stdout)
    except ValueError:
        failures.append(f'{fake} {words}: no JSON, status {done.returncode}: {done.stderr.decode()[:300]}')
        return None


def failed(verdict):
    return [case for case in verdict['cases'] if case['result'] == 'failed']


def check_deviation(rule, fake, how, group):
    begun = time.monotonic()
    words = ['--only', ','.join(groups[:groups.index(group) + 1]), '--timeout', '20']
    if how:
        words += ['--config', f'{fake}.how={how}']
    for _ in range(4 if how in TIMED else 1):
        verdict = conform(fake, *words)
        if verdict is None:
            return
        found = failed(verdict)
        first = found[0]['rules'][0] if found else 'none'
        if first == rule:
            break
    table.append((rule, f'{fake} {how}', first, len(found), time.monotonic() - begun))
    if first != rule:
        told = '\n'.join(f'  {case["group"]}: {case["name"]} {case["rules"]}: {case["message"][:300]}' for case in found[:3])
        failures.append(f'{fake} {how} breaks {rule}, but the first failure is of {first}:\n{told}')
    for case in found:
        roots = [one['rules'][0] for one in found if one['group'] in ('device', 'order')]
        if case['group'] not in ('file', 'load', 'plugin', 'device', 'order') and case['consequence_of'] != (roots or [None])[0]:
            failures.append(f'{fake} {how}: `{case["name"]}` is said to be a consequence of {case["consequence_of"]}, after {roots}')
        if '{?}' in case['message']:
            failures.append(f'{fake} {how}: a failure does not say its values: {case["message"][:300]}')


def check_lacks(lacks):
    verdict = conform('deviates', '--config', f'deviates.lacks={lacks}')
    if verdict and not verdict['verdict']['conforms']:
        told = '\n'.join(f'  {case["group"]}: {case["name"]} {case["rules"]}: {case["message"][:300]}' for case in failed(verdict)[:8])
        failures.append(f'a device without {lacks} does not conform: {len(failed(verdict))} failures\n{told}')


begun = time.monotonic()
groups = [group['name'] for group in conform('init_fails')['groups']]  # all groups; most of them do not run here
part = slices.of_this_run('conform_deviations', 8)
chosen, lacking = DEVIATIONS[part], LACKS[part]
with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
    list(pool.map(lambda one: check_deviation(*one), chosen))
    taken = time.monotonic() - begun
    list(pool.map(check_lacks, lacking))
for rule, what, first, count, seconds in sorted(table, key=lambda row: int(row[0][2:])):
    print(f'{rule:5} {what:34} first {first:5} {count:3} failed {seconds:5.1f} s')
print('\n'.join(failures) or f'{len(chosen)} plugins of {len(DEVIATIONS)}, each named by its own rule first, in '
      f'{taken:.0f} s; {len(lacking)} devices that lack capabilities conform')
sys.exit(1 if failures else 0)
