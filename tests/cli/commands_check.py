#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the manual pages and the completions with `wye VERB --help`, in both directions.

usage: commands_check.py WYE PAGE BASH ZSH FISH MANUAL...

PAGE is wye(1). Each MANUAL is the page of a verb, wye-VERB.1.

Reads --help as text. Completes in a real bash, and in zsh and fish where they are installed.
"""
import json
import os
import re
import shutil
import subprocess
import sys

wye, page, bash, zsh, fish, *manuals = sys.argv[1:]
failures = []
FLAG = re.compile(r'(?<![\w-])--?[a-zA-Z][\w-]*')


def output(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600, **more).stdout.decode()


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def help_of(*words, views=True):
    """The flags and the names of verbs that --help lists. Without `views`, the part `Options for views` is left out."""
    flags, verbs, part = set(), [], ''
    for line in output(wye, *words, '--help').split('\n'):
        if line and not line.startswith(' '):
            part = line
        # Reads only the left column: descriptions may name flags too, and are on the right or on lines of their own.
        elif match := re.match(r' {2}(\S(?:.*?\S)?)(?: {2,}|$)', line):
            if part.startswith('Options') and (views or not part.startswith('Options for views')):
                flags |= set(FLAG.findall(match[1]))
            elif part.startswith(('Subcommands', 'Helpers')):
                verbs.append(match[1])
    return flags - {'-h', '--help', '--version'}, verbs


def complain(where, words, missing, surplus):
    for flag in sorted(missing):
        failures.append(f'{where} lacks {flag} of wye {" ".join(words)}')
    for flag in sorted(surplus):
        failures.append(f'{where} has {flag}, which wye {" ".join(words)} --help lacks')


def all_verbs(words=()):
    for name in help_of(*words)[1]:
        yield (*words, name)
        yield from all_verbs((*words, name))


def sections_of(path):
    """The text about options, by the words of the command: OPTIONS for the verb, its subsections for the verbs below it."""
    name = os.path.basename(path)[len('wye-'):-len('.1')]
    options = read(path).replace('\\-', '-').split('.SH OPTIONS\n')[-1].split('\n.SH ')[0]
    first, *others = re.split(r'^\.SS wye ', options, flags=re.M)
    return {name: first if '.SH OPTIONS' in read(path) else '', **dict(other.split('\n', 1) for other in others)}


sections = {}
for manual in manuals:
    sections |= sections_of(manual)
bash_source, fish_source = read(bash), read(fish)


def bash_words(words, last='-'):
    line = ['wye', *words, last]
    script = f'source {bash}; COMP_WORDS=({" ".join(line)}); COMP_CWORD={len(line) - 1}; _wye; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return set(output('bash', '-c', script).split()) - {'--help', '--version'}


count = 0
for words in all_verbs():
    flags, verbs = help_of(*words)
    above = set().union(*(help_of(*words[:depth], views=False)[0] for depth in range(1, len(words))))
    count += len(flags)
    own = {flag for title in re.findall(r'^\.TP\n(.*)$', sections.get(' '.join(words), ''), re.M)
           for flag in FLAG.findall(re.sub(r'\\f[BIR]', ' ', title))}
    complain('the manual page', words, flags - own, own - flags)
    offered = bash_words(words)
    complain('bash', words, (flags | above) - offered, offered - flags - above)
    condition = '; and '.join(f'__fish_seen_subcommand_from {word}' for word in words)
    known = {('--' if kind == '-l' else '-') + name
             for line in fish_source.split('\n') if f"-n '{condition}'" in line
             for kind, name in re.findall(r' (-[ls]) ([a-zA-Z][\w-]*)', line.split(" -d '")[0])}
    complain('fish', words, flags - known, known - flags)
    body = re.search(rf'^{"_".join(("_wye", *words))}\(\) {{$(.*?)^}}$', read(zsh), re.M | re.S)
    known = set(re.findall(r"^ *'\*(--?[a-zA-Z][\w-]*)\[", body[1] if body else '', re.M))
    complain('zsh', words, (flags | above) - known, known - flags - above)
values = {('cache',): ['clear', 'list', 'size'], ('help',): sorted(set(help_of()[1])), ('run', '--policy'): ['auto', 'prefer', 'require'],
          ('lower', 'x.wye', '--to'): ['cuda-c', 'opencl-c', 'preconditions', 'ptx', 'spirv', 'text', 'wire', 'wye-program']}
for words, known in values.items():
    offered = bash_words(words, "''")
    if not set(known) <= offered or (words[-1].startswith('-') and offered != set(known)):
        failures.append(f'bash offers {sorted(offered)} behind {words}, not {known}')
facts = set(json.loads(output(wye, 'info', '--json', '-d', 'cpu'))['devices'][0]['facts'])
for words in (('info', '--prop'), ('info', '-d', 'cpu', '--require')):
    offered = bash_words(words, "''")
    if offered != facts or bash_words(words, 'native_f64_d') != {'native_f64_div'}:
        failures.append(f'bash offers {sorted(offered)} behind {words}, and the facts are {sorted(facts)}')
if bash_words(('info', '--require'), 'f64,native_f64_d') != {'f64,native_f64_div'}:
    failures.append('bash does not complete a list behind its comma')
if '--json' in bash_words(('info', 'doctor')) or '--from' not in bash_words(('info', 'doctor')):
    failures.append('bash offers options to wye info doctor that it refuses, or lacks some')
if not {'forget', 'trust'} < bash_words(('plugins',), "''") or 'trust' in bash_words(('plugins', 'trust'), "''"):
    failures.append('bash does not offer the actions of wye plugins for its first word only')
if not {'lifetime', 'random'} < bash_words(('conform', 'x.so', '--only'), "''"):
    failures.append('bash does not offer the groups of conform')
for path in (zsh, fish):
    if not all(word in read(path) for word in ('native_f64_div', 'lifetime')):
        failures.append(f'{path} lacks facts or groups')
if shutil.which('lexgrog'):
    # Checks that `man -k` finds each page.
    for path in [page, *manuals]:
        name = os.path.basename(path)[:-len('.1')]
        if not output('lexgrog', path).startswith(f'{path}: "{name} - '):
            failures.append(f'{path}: man -k does not find {name}')
for shell, path, check in (('zsh', zsh, ['-n']), ('fish', fish, ['--no-execute'])):
    if shutil.which(shell) and subprocess.run([shell, *check, path], check=False, timeout=600).returncode != 0:
        failures.append(f'{shell} does not read {path}')
listed = set(re.findall(r'^\.BR wye-(\S+) \(1\)$', read(page).replace('\\-', '-').split('.SH SELECTORS')[0], re.M))
paged = {os.path.basename(manual)[len('wye-'):-len('.1')] for manual in manuals}
verbs = set(help_of()[1])
for where, names in (('the list of wye(1)', listed), ('the manual pages', paged)):
    if names != verbs:
        failures.append(f'{where}: {sorted(names)}, but wye --help has {sorted(verbs)}')
for path in [page, *manuals] if shutil.which('groff') else []:
    warnings = subprocess.run(['groff', '-t', '-man', '-Tutf8', '-ww', '-z', path], stderr=subprocess.PIPE, check=False, timeout=600).stderr
    if warnings:
        failures.append('groff: ' + warnings.decode()[:500])
if count < 60:
    failures.append(f'only {count} flags were compared')
print('\n'.join(failures) or f'{count} flags, the same everywhere')
sys.exit(1 if failures else 0)
