#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `wye conform` on plugins that break the contract, and compares its verdicts with the rules that they break.

usage: conform_check.py WYE SCHEMA FAKES WORK

FAKES is the folder of the fake plugins, WORK a folder for files of this test. A fake plugin breaks one rule. Most fakes run no
programs, so failures that the healthy fake has too are not counted. Files that are no plugin, wrong usage, output for
people and the JSON schema are checked too. A run takes a sixth of the fakes (tests/support/slice.hpp).
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
import slices

try:
    import jsonschema
except ImportError:
    jsonschema = None

wye, schema_path, fakes, work = sys.argv[1:]
failures = []
with open(schema_path, encoding='utf-8') as file:
    schema = json.load(file)
validator = jsonschema.Draft202012Validator(schema) if jsonschema else None

# (fake, setting, groups, a rule that must fail). The setting is a configuration KEY=VALUE or, for `misbehaves`, the value of its
# variable. deviations_check.py has more such rows.
BREAKS = [
    ('endless_chain', '', 'load', 'P-3'),
    ('critical_chain', '', 'load', 'P-7'),
    ('short_table', '', 'load', 'P-3'),
    ('lying_size', '', 'load', 'P-3'),
    ('half_pair', '', 'load', 'P-6'),
    ('old_major', '', 'load', 'P-3'),
    ('future_minor', '', 'load', 'P-3'),
    ('small_pointers', '', 'load', 'P-3'),
    ('first_draft', '', 'load', 'P-3'),
    ('other_draft', '', 'load', 'P-3'),
    ('null_desc', '', 'load', 'P-3'),
    ('throws_query', '', 'load', 'P-8'),
    ('throws_init', '', 'load', 'P-8'),
    ('throws_probe', '', 'load', 'P-8'),
    ('null_object', '', 'load', 'P-12'),
    ('silent_failure', '', 'load', 'P-11'),
    ('many_devices', '', 'load', 'P-17'),
    ('lies_often', '', 'plugin', 'P-19'),
    ('lying_facts', '', 'plugin', 'P-19'),
    ('null_device', '', 'device', 'P-12'),
    ('null_buffer', '', 'device', 'P-12'),
    ('bad_device_table', '', 'device', 'P-6'),
    ('never_closes', '', 'device', 'P-29'),
    ('keeps_memory', '', 'hostile', 'P-11'),
    ('breaks_native', 'breaks_native.how=copies', 'native', 'P-51'),
    ('breaks_native', 'breaks_native.how=frees', 'native', 'P-51'),
    ('breaks_native', 'breaks_native.how=takes_null', 'native', 'P-51'),
    ('breaks_native', 'breaks_native.how=takes_short', 'native', 'P-51'),
    ('disturbs_process', '', 'process', 'P-10'),
    ('breaks_rules', 'breaks_rules.how=throws_at_end', 'lifetime', 'P-8'),
    ('breaks_rules', 'breaks_rules.how=huge_save', 'program', 'P-33'),
    ('breaks_rules', 'breaks_rules.how=absent_save', 'program', 'P-8'),
    ('breaks_rules', 'breaks_rules.how=long_name', 'load', 'P-3'),
    ('breaks_rules', 'breaks_rules.how=absent_name', 'load', 'P-8'),
    ('breaks_rules', 'breaks_rules.how=forges', 'load', 'P-18'),
    ('breaks_rules', 'breaks_rules.how=many_formats', 'load', 'P-3'),
    ('breaks_rules', 'breaks_rules.how=more_formats', 'load', 'P-3'),
    ('breaks_rules', 'breaks_rules.how=exits', 'load', 'P-8'),
    ('breaks_rules', 'breaks_rules.how=ends_thread', 'load', 'P-8'),
    ('breaks_loss', 'breaks_loss.how=accepts_work', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=makes_objects', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=hangs', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=forgets_reached', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=no_remedy', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=recovers_nothing', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=refuses_silently', 'loss', 'P-11'),
    ('breaks_loss', 'breaks_loss.how=reaches_pending', 'loss', 'P-50'),
    ('breaks_loss', 'breaks_loss.how=writes_late', 'loss', 'P-13'),
    ('misbehaves', 'crash@constructor', 'load', 'P-8'),
    ('misbehaves', 'abort@query', 'load', 'P-8'),
    ('misbehaves', '_exit@init', 'load', 'P-8'),
    ('misbehaves', 'hang@probe', 'load', 'P-17'),
    ('misbehaves', 'crash@dispatch', 'queue', 'P-8'),
    ('misbehaves', 'hang@wait', 'launch', 'P-46'),
    ('misbehaves', 'quick_exit@build', 'program', 'P-8'),
    ('misbehaves', 'descriptors@open', 'device', 'P-10'),
    ('misbehaves', 'scribbles@open', 'device', 'P-10'),
    ('misbehaves', 'prints@dispatch', 'process', 'P-9'),
    ('misbehaves', 'locale@init', 'process', 'P-10'),
    ('misbehaves', 'folder@probe', 'process', 'P-10'),
    ('misbehaves', 'environment@open', 'process', 'P-10'),
    ('misbehaves', 'umask@open', 'process', 'P-10'),
    ('misbehaves', 'descriptor@build', 'process', 'P-10'),
    ('misbehaves', 'thread@init', 'process', 'P-29'),
    ('misbehaves', 'wrong_bytes', 'examples', 'P-23'),
    ('misbehaves', 'wrong_capabilities', 'capabilities', 'P-19'),
    ('misbehaves', 'crash@wait', 'capabilities', 'P-8'),
    ('turns_wrong', '', 'sweeps', 'P-23'),
]
# Fakes that are the CPU plugin except for the broken rule, so that everything else must pass.
WHOLE = ('breaks_loss', 'misbehaves', 'turns_wrong')
# The values of `takes_parts.at`, and for each a text that the kit's failure must contain.
TAKES = {
    'host': 'what := host table', 'opening': 'what := opening', 'buffer': 'what := buffer', 'queue': 'what := queue',
    'submission': 'what := submission', 'timeline': 'what := timeline', 'command': 'what := command', 'artifact': 'what := artifact',
    'loaded': 'what := loaded', 'slot': 'kind := ', 'operation': 'one.what := a critical entry of an operation',
    'launch': 'one.what := a late grid outside of commands', 'binding': 'one.what := flags of a binding',
    'trap': 'one.what := flags of the trap words', 'indirect': 'one.what := flags of the indirect range',
    'recorded': 'TEST CASE:  commands of operations', 'update': 'command.update(', 'signal': 'TEST CASE:  signals',
    'failure': 'what := failure', 'handle': 'refused() == WYE_UNSUPPORTED_EXTENSION',
    'any': 'TEST CASE:  a wait accepts only the modes'}
# Fakes that keep all rules that these groups test.
KEEPS = [('healthy', 'file,load,plugin,skew,process'), ('plain_chain', 'file,load,plugin,skew'),
         ('newer_minor', 'file,load,plugin,skew'), ('init_fails', 'file,load,plugin,skew,process'), ('breaks_loss', 'load,lifetime,loss'),
         ('breaks_native', 'load,native')]


def fail(text):
    failures.append(text)


def conform(*words, **variables):
    return subprocess.run([wye, 'conform', *words], env={**os.environ, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=600)


def verdict_of(where, done):
    """The document that a run printed, after the checks that hold for every verdict."""
    try:
        verdict = json.loads(done.stdout)
    except ValueError:
        fail(f'{where}: no JSON, status {done.returncode}: {done.stderr.decode()[:300]}')
        return None
    for error in validator.iter_errors(verdict) if validator else ():
        fail(f'{where}: {"/".join(map(str, error.path))}: {error.message[:200]}')
    wrong = [case for case in verdict['cases'] if case['result'] == 'failed']
    said = verdict['verdict']
    if said['failed'] != len(wrong) or said['conforms'] != (not wrong) or done.returncode != (1 if wrong else 0):
        fail(f'{where}: the verdict does not fit its cases, status {done.returncode}: {said}')
    for case in verdict['cases']:
        if not case['rules']:
            fail(f'{where}: the case `{case["name"]}` names no rule')
        if case['result'] == 'failed' and not (case['message'] and case['fix'].startswith('Fix: P-')):
            fail(f'{where}: the case `{case["name"]}` failed without a sentence or a remedy')
    return verdict


def hangs(name, told):
    return name == 'never_closes' or told.startswith('hang') or told.endswith('=hangs')


def run_fake(name, told, groups):
    words, variables = ['--json', '--quick', '--timeout', '4' if hangs(name, told) else '60', '--only', groups], {}
    if '@' in told or name == 'misbehaves':
        variables['WYE_MISBEHAVES'] = told
    elif told:
        words += ['--config', told]
    return verdict_of(f'{name} {told}', conform(os.path.join(fakes, name + '.so'), *words, **variables))


def failed(verdict):
    return {(case['group'], case['name']): case['rules'] for case in verdict['cases'] if case['result'] == 'failed'}


def check_breaks(entry, healthy):
    name, told, groups, rule = entry
    verdict = run_fake(name, told, groups)
    if verdict is None:
        return
    if hangs(name, told):
        check_hangs(f'{name} {told}', verdict)
    known = {} if name in WHOLE else healthy
    rules = {number for case, numbers in failed(verdict).items() for number in numbers if number not in known.get(case, ())}
    if rule not in rules:
        fail(f'{name} {told}: {rule} did not fail in {groups}, but these: {sorted(rules)}')


def check_takes():
    """If a plugin accepts unknown parts in one place (P-7), the kit's failure names it. A plugin that accepts none passes."""
    cases = '--test-case=*unknown*,*native memory uses*,*only the modes*'
    for place, told in {**TAKES, '': 'Status: SUCCESS!'}.items():
        done = subprocess.run([os.path.join(os.path.dirname(wye), 'wye-conform-abi'), os.path.join(fakes, 'takes_parts.so'), cases, '--config',
                               f'takes_parts.at={place}'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
        if told not in done.stdout or done.returncode != (1 if place else 0):
            fail(f'takes_parts at `{place}`: status {done.returncode}, without `{told}`:\n{done.stdout[-2000:]}')


def check_usage():
    """Files that are no plugin, and wrong arguments, give status 2, a sentence and a remedy."""
    def put(name, content):
        path = os.path.join(work, name)
        with open(path, 'wb') as out:
            out.write(content)
        return path
    healthy = os.path.join(fakes, 'healthy.so')
    with open(healthy, 'rb') as source:
        other = bytearray(source.read())
    other[18] = 3  # e_machine of a 32-bit processor
    for words, status in [
            ([put('empty.so', b'')], 2), ([put('text.so', b'no plugin\n' * 100)], 2), ([put('other.so', bytes(other))], 2),
            ([os.path.join(work, 'absent.so')], 2), ([work], 2), ([wye + '-none'], 2), ([], 2), ([healthy, '--quick', '--full'], 2),
            ([healthy, '--only', 'nothing'], 2), ([healthy, '--timeout', '0'], 2), ([healthy, '--timeout', 'x'], 2), ([healthy, '--random-time', '0'], 2),
            ([healthy, '--config', 'x'], 2), ([healthy, '--device', '7'], 3), ([healthy, '--device', '1'], 3),
            ([healthy, '--device', '"none of this name"'], 3), ([healthy, '--device', 'other:0'], 3)]:
        done = conform(*words, *(['--only', 'file'] if '--only' not in words and words[:1] == [healthy] else []))
        text = done.stderr.decode()
        if done.returncode != status or not text.startswith('wye: error: ') or text.count('Fix: ') != 1 or done.stdout.startswith(b'{'):
            fail(f'{words}: status {done.returncode}, not {status}: {text[:300]}')
    layer = os.path.join(tempfile.mkdtemp(dir=work), 'wye_layer_x.so')
    shutil.copy(healthy, layer)
    with open(layer[:-2] + 'wye.json', 'w', encoding='utf-8') as out:
        json.dump({'schema': 1, 'kind': 'layer', 'id': 'x', 'library': 'wye_layer_x.so', 'arch': os.uname().machine, 'backend': 'fake',
                   'abi': {'major': 1, 'draft': int(schema_draft()), 'minor_needed': 0, 'minor_built': 0}, 'version': '0.1.0'}, out)
    done = conform(layer, '--only', 'file')
    if done.returncode != 2 or b'is a layer' not in done.stderr or b'--layer' not in done.stderr:
        fail(f'a layer: status {done.returncode}: {done.stderr.decode()[:300]}')
    done = conform(healthy, '--only', 'file', WYE_LIBEXEC=work)
    if done.returncode != 1 or b'wye-conform-abi' not in done.stderr:
        fail(f'without kits: status {done.returncode}: {done.stderr.decode()[:300]}')


def check_screen():
    """The text output has a line for each group, the case that ended the process, the rule and the verdict."""
    done = conform(os.path.join(fakes, 'misbehaves.so'), '--quick', '--only', 'native,queue', WYE_MISBEHAVES='crash@dispatch')
    text = done.stdout.decode()
    for part in ('plugin `misbehaves`', 'device misbehaves:0', '  native ', '  queue ', 'FAILED ', 'P-8', 'by signal 11 (Segmentation fault)',
                 'Fix: ', 'misbehaves 0.1.0 does not conform: ', 'so the cases after that did not run'):
        if part not in text:
            fail(f'the screen lacks `{part}`:\n{text[:3000]}')
    if done.returncode != 1:
        fail(f'the screen: status {done.returncode}')


def check_manifest():
    """A manifest beside the file that states another version is a failure; one that agrees is not."""
    for version, conforms in (('0.1.0', True), ('9.9', False)):
        folder = tempfile.mkdtemp(dir=work)
        shutil.copy(os.path.join(fakes, 'healthy.so'), os.path.join(folder, 'wye_healthy.so'))
        manifest = {'schema': 1, 'id': 'healthy', 'library': 'wye_healthy.so', 'arch': os.uname().machine, 'backend': 'fake',
                    'abi': {'major': 1, 'draft': int(schema_draft()), 'minor_needed': 0, 'minor_built': 0}, 'version': version}
        with open(os.path.join(folder, 'wye_healthy.wye.json'), 'w', encoding='utf-8') as out:
            json.dump(manifest, out)
        verdict = verdict_of(f'manifest {version}', conform(os.path.join(folder, 'wye_healthy.so'), '--json', '--only', 'load'))
        if verdict and verdict['verdict']['conforms'] != conforms:
            fail(f'a manifest of version {version}: {verdict["verdict"]}')
    os.remove(os.path.join(folder, 'wye_healthy.wye.json'))
    os.mkfifo(os.path.join(folder, 'wye_healthy.wye.json'))  # opening this pipe would wait for a writer
    said = conform(os.path.join(folder, 'wye_healthy.so'), '--only', 'load')
    if said.returncode != 1 or 'wye_healthy.wye.json` is no regular file' not in said.stdout.decode():
        fail(f'a manifest that is a pipe: {said.returncode}, {said.stdout}')


def check_second_try():
    """A case that runs into its limit is tried again alone with four times the limit."""
    listed = 'devices are listed soon, each with a name, and with formats or a reason'
    for limit, result, said in ((4, 'passed', 'was tried twice: it did not end within 4 seconds; the second time, alone, it took'),
                                (1, 'failed', 'it did not end within 1 seconds (--timeout), and, tried again alone, not within 4')):
        verdict = verdict_of(f'probes_slowly, {limit} s', conform(os.path.join(fakes, 'probes_slowly.so'), '--json', '--timeout', str(limit),
                                                                  '--only', 'load'))
        if not verdict:
            continue
        case = next(case for case in verdict['cases'] if case['name'] == listed)
        if case['tries'] != 2 or case['result'] != result or not any(said in text for text in [case['message'] or '', *case['notes']]):
            fail(f'with a limit of {limit} s a plugin that needs five: {case}')
        if result == 'passed' and (not verdict['verdict']['conforms'] or verdict['device']['selector'] != 'probes_slowly:0'):
            fail(f'a slow plugin does not conform, or has another device: {verdict["verdict"]}, {verdict["device"]}')


def check_hangs(where, verdict):
    """The first case that hangs is tried twice, and later ones once: a plugin that always hangs costs only one second try."""
    hung = [case for case in verdict['cases'] if 'did not end within' in (case['message'] or '')]
    if not hung or hung[0]['tries'] != 2 or 'tried again alone' not in hung[0]['message']:
        fail(f'{where}: the first case that hangs was not tried twice: {hung[:1]}')
    for case in hung[1:]:
        if case['tries'] != 1 or 'there was no second try' not in case['message']:
            fail(f'{where}: another case that hangs had a second try: {case}')


def check_random_time():
    """When the time for random programs is over, the verdict says how many of them ran."""
    plugin, groups = os.path.join(fakes, 'breaks_loss.so'), ['--only', 'load,random,traps']
    for words, limited in ((['--full', '--random-time', '1'], True), (['--quick'], False)):
        verdict = verdict_of(f'random programs {words}', conform(plugin, '--json', *groups, *words))
        if not verdict:
            continue
        found = {group['name']: group for group in verdict['groups']}
        ran, said = found['random']['passed'], found['random']['partly']
        wanted = f'{ran} of 1500 programs ran, since the 1 seconds for them were over (--random-time)' if limited else None
        if said != wanted or not 0 < ran < 1500 or found['load']['partly'] or not verdict['verdict']['conforms']:
            fail(f'{words}: {found["random"]}')
        if limited != (f'tried in part: random, {wanted}' in verdict['verdict']['sentence']):
            fail(f'{words}: {verdict["verdict"]["sentence"]}')


def check_own_format():
    """If no program of the language runs on a device, those groups are not tried, and the verdict says why."""
    verdict = verdict_of('own_format', conform(os.path.join(fakes, 'own_format.so'), '--json', '--quick', '--only', 'program,examples,sweeps'))
    if not verdict:
        return
    reasons = {group['name']: group['not_tried'] or '' for group in verdict['groups']}
    for name in ('examples', 'sweeps'):
        if 'takes org.example.fake only' not in reasons[name]:
            fail(f'own_format: {name} gives another reason: {reasons[name]}')
    if 'not tried: examples, sweeps, since the device takes org.example.fake only' not in verdict['verdict']['sentence']:
        fail(f'own_format: the verdict does not say what was not tried: {verdict["verdict"]["sentence"]}')
    apart = [case['message'] for case in verdict['cases'] if case['group'] == 'program' and case['result'] == 'not_applicable']
    if not any('no program in a format of this device' in message for message in apart):
        fail(f'own_format: cases that need a program give other reasons: {apart}')


def check_no_device():
    """Without a device the verdict says how many groups could be tried."""
    verdict = verdict_of('init_fails', conform(os.path.join(fakes, 'init_fails.so'), '--json', '--quick', '--only', 'file,load,device,queue'))
    said = verdict['verdict'] if verdict else {}
    last = said.get('sentence', '').split('\n')[-1]
    if (said.get('groups_tried'), said.get('groups_not_tried')) != (2, 2) or not last.startswith('only 2 of 4 groups could be tried'):
        fail(f'init_fails: the verdict does not say what could be tried: {said}')


def schema_draft():
    return json.loads(conform(os.path.join(fakes, 'healthy.so'), '--json', '--only', 'load').stdout)['host']['abi']['draft']


os.makedirs(work, exist_ok=True)
alone = os.path.join(work, 'needs_gone.so')  # linked to a library that does not exist
with open(os.path.join(fakes, 'needs_gone.so'), 'rb') as linked, open(alone, 'wb') as out:
    out.write(linked.read().replace(b'libwye_gone.so', b'libwye_none.so'))
if validator:
    jsonschema.Draft202012Validator.check_schema(schema)
    for change in ({'schema': 2}, {'cases': [{'name': 'x'}]}, {'verdict': {}}):
        if validator.is_valid({**json.loads(conform(os.path.join(fakes, 'healthy.so'), '--json', '--only', 'file').stdout), **change}):
            fail(f'the schema accepts {change}')
chosen = BREAKS[slices.of_this_run('conform_fakes', 6)]
baseline = run_fake('healthy', '', 'load,plugin,device,memory,program,queue,timeline,command,launch,native,lifetime,hostile,process')
healthy_fails = failed(baseline) if baseline else {}
with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
    jobs = [pool.submit(check_breaks, entry, healthy_fails) for entry in chosen]
    jobs += [pool.submit(check) for check in (check_usage, check_screen, check_manifest, check_second_try, check_random_time, check_own_format,
                                              check_no_device, check_takes)]
    for job in jobs:
        job.result()
for name, groups in KEEPS:
    verdict = run_fake(name, '', groups)
    if verdict and not verdict['verdict']['conforms']:
        fail(f'{name} keeps the contract, but: {failed(verdict)}')
verdict = verdict_of('needs_gone', conform(alone, '--json', '--only', 'load'))
if verdict and 'P-4' not in verdict['verdict']['failed_rules']:
    fail(f'a library that is absent is no failure of P-4: {verdict["verdict"]}')
print('\n'.join(failures) or f'{len(chosen)} broken rules found, {len(KEEPS)} plugins that keep them')
sys.exit(1 if failures else 0)
